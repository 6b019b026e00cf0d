"""Which method is `mtp:n_max=3`? The methods of the format, with what the facts say of a draft."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, get_args, get_type_hints

from harness.errors import BadInputError
from harness.importers.names import id_of, model_facts, size_in
from harness.nearest import suggestion
from schemas.submission import (
    DraftHead,
    DraftModel,
    Model,
    Ngram,
    NoSpeculation,
    OtherMethod,
    PromptLookup,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.importers.facts import Facts
    from schemas.submission import Method

_CLASSES = (NoSpeculation, DraftModel, PromptLookup, Ngram, DraftHead, OtherMethod)
METHODS: dict[str, type] = {
    kind: cls for cls in _CLASSES for kind in get_args(get_type_hints(cls)["type"])
}


def method(text: str, facts: Facts) -> tuple[Method, Model | None]:
    """The method, and the draft model if it has one. Raises `BadInputError` if it is none."""
    kind, _, rest = text.partition(":")
    cls = METHODS.get(kind)
    if cls is None:
        message = (
            f"--map method={text!r}: no such method.{suggestion(kind, METHODS)} "
            f"A method of another name is other:name={id_of(kind)}"
        )
        raise BadInputError(message)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.name != "type"}
    values: dict[str, object] = {}
    for pair in filter(None, rest.split(",")):
        key, _, value = pair.partition("=")
        if key not in fields:
            message = f"--map method={text!r}: {kind} has no option {key!r}."
            raise BadInputError(message + suggestion(key, fields))
        values[key] = value if key in ("draft", "name") else _number(text, key, value)
    return _built(cls, kind, values, facts)


def _built(
    cls: type, kind: str, values: dict[str, object], facts: Facts
) -> tuple[Method, Model | None]:
    names = {field.name for field in dataclasses.fields(cls)}
    if "n_max" in names and "n_max" not in values and (depth := facts.whole("n_max")) is not None:
        values["n_max"] = depth
    draft = None
    if "draft" in names:
        draft = _draft(values.pop("draft", None), facts, needed=cls is DraftModel)
        values |= {"draft": draft.id} if draft else {}
    for field in dataclasses.fields(cls):
        if field.default is dataclasses.MISSING and field.name not in {"type", *values}:
            if field.name != "draft":
                facts.missing[field.name if field.name == "n_max" else "method"] = None
            values[field.name] = 1 if field.name.startswith(("n_", "ngram")) else "unknown"
    made: Method = cls(type=kind, **values)
    return made, draft


def _draft(named: object, facts: Facts, *, needed: bool) -> Model | None:
    name = str(named) if named is not None else facts.text("draft")
    if name is None and not needed:
        return None
    said: Mapping[str, str] = model_facts(name or "", "draft")
    name = said.get("draft") or facts.need("draft")
    quantisation = said.get("draft_quantisation") or facts.need("draft_quantisation")
    return Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=facts.size("draft_parameters", size_in(name)),
    )


def _number(text: str, key: str, value: str) -> int | float | bool:
    if key == "adaptive" and value in ("true", "false"):
        return value == "true"
    try:
        return float(value) if key == "p_min" else int(value)
    except ValueError as error:
        message = f"--map method={text!r}: {key} takes a number, not {value!r}"
        raise BadInputError(message) from error
