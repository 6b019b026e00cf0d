"""How is a schema violation said in the reader's words? What is wrong, what was expected."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, cast

from schemas.finding import ROOT, Finding, child_path, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from jsonschema.exceptions import ValidationError

_SHOWN_CHOICES = 16


def findings_of(error: ValidationError) -> Iterator[Finding]:
    """The findings that one violation of the schema stands for, one per missing or extra field."""
    # Any: jsonschema fills these in before it hands out an error, but types them as maybe unset.
    instance, schema, wanted = cast("tuple[Any, Any, Any]", _parts(error))
    path = json_path(error.absolute_path)
    keyword = str(error.validator)
    if keyword == "additionalProperties":
        for name in sorted(instance.keys() - schema.get("properties", {}).keys()):
            yield _finding(path, f"unknown field {shown(name)}; remove it", keyword)
        return
    if keyword == "required":
        # jsonschema reports each missing field as an error of its own, which begins with its name.
        name = next(name for name in wanted if error.message.startswith(repr(name)))
        yield _finding(path, f"the field {shown(name)} is missing; add it", keyword)
        return
    say = _SENTENCES.get(keyword, _other)
    yield _finding(path, say(shown(instance), wanted), keyword)


def json_path(steps: Iterable[str | int]) -> str:
    """A JSON path such as `$.trials[3].decode_ms` from a sequence of keys and indices."""
    return reduce(child_path, steps, ROOT)


def _parts(error: ValidationError) -> tuple[object, object, object]:
    return error.instance, error.schema, error.validator_value


def _finding(path: str, message: str, keyword: str) -> Finding:
    return Finding(path=path, message=message, rule=f"schema-{keyword}")


def _choices(values: list[object]) -> str:
    first = ", ".join(shown(value) for value in values[:_SHOWN_CHOICES])
    return first + (", ..." if len(values) > _SHOWN_CHOICES else "")


def _type(got: str, want: object) -> str:
    fractional = want == "integer" and got[-1].isdigit()
    hint = "; write it without a decimal point or exponent" if fractional else ""
    return f"{got} has the wrong type, expected {want}{hint}"


def _other(got: str, expected: object) -> str:
    return f"{got} does not fit the schema ({shown(expected)})"


_SENTENCES: dict[str, Callable[[str, object], str]] = {
    "type": _type,
    "const": lambda got, want: f"{got} is not accepted, expected {shown(want)}",
    "enum": lambda got, want: f"{got} is not accepted, expected one of {_choices(want)}",  # type: ignore[arg-type]  # jsonschema's keyword values are untyped; enum holds a list
    "pattern": lambda got, want: f"{got} has the wrong form, expected {want}",
    "format": lambda got, want: f"{got} is no valid {want}",
    "minimum": lambda got, want: f"{got} is too small, expected at least {want}",
    "maximum": lambda got, want: f"{got} is too large, expected at most {want}",
    "minLength": lambda got, want: f"{got} is too short, expected at least {want} characters",
    "maxLength": lambda got, want: f"{got} is too long, expected at most {want} characters",
    "minItems": lambda got, want: f"{got} is too short, expected at least {want}",
    "maxItems": lambda got, want: f"{got} is too long, expected at most {want}",
}
