"""How is a schema of this package turned into a validator that is strict and quick?

`jsonschema` stays the authority. Three things are settled here that it leaves open: 1.0 is no
integer, `$` in a pattern means the end of the text and not the place before a last newline, and
a date-time is one that Python can read.

Most of the time went into walking the schema anew for every trial. So references are replaced by
what they point at, prose is dropped, and a plain value (no object, no list) is first tried against
jsonschema's own keyword functions; only one that fails takes the long way that builds an error.
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
_LISTS_OF_SUBSCHEMAS = frozenset({"allOf", "anyOf", "oneOf"})


def validator(schema: Schema) -> Validator:
    """A validator for a schema whose references all point into itself."""
    made: Validator = _StrictValidator(_inlined(schema, schema), format_checker=_FORMATS)
    return made


def _inlined(schema: Schema, root: Schema) -> Schema:
    """The same constraints without references and prose."""
    own = {key: _walked(key, value, root) for key, value in schema.items() if key not in _PROSE}
    reference = own.pop("$ref", None)
    if reference is None:
        return own
    target = _inlined(_pointed_at(reference, root), root)
    if own.keys() & target.keys():
        return {**own, "allOf": [*own.get("allOf", []), target]}
    return {**target, **own}


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


def _pattern(_validator: Validator, pattern: str, instance: Json, _schema: Schema) -> Errors:
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"does not match {pattern}")


def _properties(validator: Validator, known: Schema, instance: Json, _schema: Schema) -> Errors:
    if isinstance(instance, dict):
        for name in known.keys() & instance.keys():
            yield from _entry(validator, known[name], instance[name], name)


def _items(validator: Validator, subschema: Schema, instance: Json, _schema: Schema) -> Errors:
    if isinstance(instance, list):
        for index, value in enumerate(instance):
            yield from _entry(validator, subschema, value, index)


def _entry(validator: Validator, subschema: Schema, value: Json, step: str | int) -> Errors:
    if not _accepts_plainly(validator, subschema, value):
        yield from validator.descend(value, subschema, path=step)  # type: ignore[attr-defined]  # not in the protocol, but what jsonschema's own keywords call


def _accepts_plainly(validator: Validator, subschema: Schema, value: Json) -> bool:
    if not subschema.keys() <= _PLAIN:
        return False
    keywords = _StrictValidator.VALIDATORS
    return not any(
        True
        for keyword, expected in subschema.items()
        for _ in keywords[keyword](validator, expected, value, subschema) or ()
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


@_FORMATS.checks("date", raises=ValueError)
def _is_date(value: object) -> bool:
    return not isinstance(value, str) or bool(date.fromisoformat(value))


_StrictValidator = validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave it untyped
    Draft202012Validator,
    validators={"pattern": _pattern, "properties": _properties, "items": _items},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
