"""How is a schema of this package turned into a validator that is strict and quick?

`jsonschema` stays the authority. Three things are settled here that it leaves open: 1.0 is no
integer, `$` in a pattern means the end of the text and not the place before a last newline, and
a date-time is one that Python can read.

Most of the time went into walking the schema anew for every trial. So references are replaced by
what they point at, prose is dropped, and a plain value, or a list of such, is first tried against
jsonschema's own keyword functions; only one that fails takes the long way that builds an error.
What they said of a value holds for an equal value at the same place of the schema.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from jsonschema import TypeChecker
    from jsonschema.protocols import Validator

    from schemas.codec import Json

    Schema = dict[str, Any]
    Errors = Iterator[ValidationError]

_PROSE = frozenset({"$schema", "$id", "$defs", "title", "description", "examples"})
_SUBSCHEMAS = frozenset({"if", "then", "else", "items", "not", "contains"})
_PLAIN = frozenset(
    {"type", "const", "enum", "pattern", "format"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"}
)
_LIST = frozenset({"type", "items", "minItems", "maxItems"})
_REMEMBERED = 4096  # values for each place of the schema; a file has a few thousand in all
_LISTS_OF_SUBSCHEMAS = frozenset({"allOf", "anyOf", "oneOf"})


def validator(schema: Schema) -> Validator:
    """A validator for a schema whose references all point into itself."""
    made: Validator = _StrictValidator(inlined(schema), format_checker=FORMATS)
    return made


def inlined(schema: Schema) -> Schema:
    """The same constraints without references and prose."""
    return _inlined(schema, schema)


def _inlined(schema: Schema, root: Schema) -> Schema:
    own = {key: _walked(key, value, root) for key, value in schema.items() if key not in _PROSE}
    reference = own.pop("$ref", None)
    if reference is None:
        return _settled(own)
    target = _inlined(_pointed_at(reference, root), root)
    if own.keys() & target.keys():
        return _settled({**own, "allOf": [*own.get("allOf", []), target]})
    return _settled({**target, **own})


def _settled(schema: Schema) -> Schema:
    listed = isinstance(schema.get("items"), _PlainSchema) and schema.keys() <= _LIST
    return _PlainSchema(schema) if listed or schema.keys() <= _PLAIN else schema


def _walked(key: str, value: Any, root: Schema) -> Any:  # noqa: ANN401 - any JSON value of a schema
    if key == "properties":
        return {name: _inlined(entry, root) for name, entry in value.items()}
    if key in _LISTS_OF_SUBSCHEMAS:
        return [_inlined(entry, root) for entry in value]
    if key in _SUBSCHEMAS:
        return _inlined(value, root)
    return value


def _pointed_at(reference: str, root: Schema) -> Schema:
    place: Any = root
    for step in reference.removeprefix("#/").split("/"):
        place = place[step]
    found: Schema = place
    return found


def _is_integer(_checker: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_checker: TypeChecker, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pattern(_validator: Validator, pattern: str, instance: Json, _schema: Schema) -> Errors:
    if isinstance(instance, str) and not regex(pattern).search(instance):
        yield ValidationError(f"does not match {pattern}")


def _properties(validator: Validator, known: Schema, instance: Json, _schema: Schema) -> Errors:
    if isinstance(instance, dict):
        for name in known.keys() & instance.keys():
            if not _accepts_plainly(known[name], instance[name]):
                yield from _descend(validator, known[name], instance[name], name)


def _items(validator: Validator, subschema: Schema, instance: Json, _schema: Schema) -> Errors:
    if isinstance(instance, list):
        for index, value in enumerate(instance):
            if not _accepts_plainly(subschema, value):
                yield from _descend(validator, subschema, value, index)


def _descend(validator: Validator, subschema: Schema, value: Json, step: str | int) -> Errors:
    yield from validator.descend(value, subschema, path=step)  # type: ignore[attr-defined]  # not in the protocol, but what jsonschema's own keywords call


def _accepts_plainly(subschema: Schema, value: Json) -> bool:
    """Whether jsonschema's own keyword functions find nothing wrong with a value."""
    return isinstance(subschema, _PlainSchema) and subschema.accepts(value)


class _PlainSchema(dict[str, "Any"]):
    """A subschema of a plain value or a list of such, and what was found out about some values."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        keywords = _StrictValidator.VALIDATORS
        self._validator = _StrictValidator(schema, format_checker=FORMATS)
        self._checks = [(keywords[keyword], wanted) for keyword, wanted in schema.items()]
        # True equals 1 and 1 equals 1.0, so the type is part of the key.
        self._accepted: set[tuple[type, object]] = set()

    def accepts(self, value: Json) -> bool:
        if isinstance(value, dict | list):
            return isinstance(value, list) and self._fits(value)
        key = (type(value), value)
        if key in self._accepted:
            return True
        fits = self._fits(value)
        if fits and len(self._accepted) < _REMEMBERED:
            self._accepted.add(key)
        return fits

    def _fits(self, value: Json) -> bool:
        for check, wanted in self._checks:
            for _error in check(self._validator, wanted, value, self) or ():
                return False
        return True


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """A pattern of a schema as Python has it: `$` is the end of the text and nothing else."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


@FORMATS.checks("date", raises=ValueError)
def _is_date(value: object) -> bool:
    return not isinstance(value, str) or bool(date.fromisoformat(value))


_StrictValidator = validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave it untyped
    Draft202012Validator,
    validators={"pattern": _pattern, "properties": _properties, "items": _items},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    ),
)
