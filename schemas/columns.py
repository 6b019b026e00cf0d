"""Do many values fit a schema? Answered for all of them at once, column by column.

`jsonschema` walks a document value by value and builds an error for each that does not fit. This
checker only says yes or no: the trials of a file are turned into one column per field, and a
column is judged by its types, its least and greatest value and its distinct texts. It knows the
keywords that the schemas of this package use and refuses to be built for any other.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from schemas import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Values = Sequence[Any]  # JSON values that stand at the same place of a document
    Check = Callable[[Values], bool]
    Schema = dict[str, Any]

_TYPES: dict[str, set[type]] = {
    "object": {dict},
    "array": {list},
    "string": {str},
    "integer": {int},
    "number": {int, float},
    "boolean": {bool},
}
# Without a type beside them, the others would meet values that they cannot be asked about.
_FOR_ANY_TYPE = {"const", "enum", "allOf", "if", "then", "required"}
_HANDLED_ELSEWHERE = {"required", "additionalProperties", "then"}


class UnknownKeywordError(ValueError):
    """The schema uses a keyword that this checker does not know: it must not be ignored."""


def checker(schema: Schema) -> Check:
    """A function that says whether every value of a sequence fits a schema.

    The values are such as `orjson` makes them: exact types, no NaN.
    """
    return _all_of(list(_checks(compiled.inlined(schema))))


def _checks(schema: Schema) -> Iterator[Check]:
    """One check per keyword; the type first, because the others rely on it."""
    unknown = schema.keys() - _KEYWORDS.keys() - _HANDLED_ELSEWHERE
    typed = any("type" in part for part in (schema, *schema.get("allOf", ())))
    untyped = set() if typed else schema.keys() - _FOR_ANY_TYPE
    if unknown or untyped or ("if" in schema) != ("then" in schema):
        raise UnknownKeywordError(", ".join(sorted(unknown | untyped)) or "if without then")
    for keyword, make in _KEYWORDS.items():
        if keyword in schema:
            yield make(schema[keyword], schema)
    if "properties" not in schema and "required" in schema:
        yield _objects({}, {**schema, "additionalProperties": True})


def _all_of(checks: list[Check]) -> Check:
    def check(values: Values) -> bool:
        for single in checks:  # noqa: SIM110 - a third sooner than `all` over a generator
            if not single(values):
                return False
        return True

    return check


def _type(name: str, _schema: Schema) -> Check:
    allowed = _TYPES[name]
    return lambda values: allowed.issuperset(map(type, values))


def _among(choices: Collection[Any], _schema: Schema) -> Check:
    """True equals 1 and 1 equals 1.0 in Python, so the types are compared as well."""
    types, allowed = set(map(type, choices)), set(choices)
    return lambda values: types.issuperset(map(type, values)) and allowed.issuperset(values)


def _pattern(pattern: str, _schema: Schema) -> Check:
    search = compiled.regex(pattern).search
    return lambda values: all(map(search, set(values)))


def _format(name: str, _schema: Schema) -> Check:
    return lambda values: all(compiled.FORMATS.conforms(value, name) for value in set(values))


def _objects(known: dict[str, Schema], schema: Schema) -> Check:
    """Objects with the same keys in the same order form a table; its columns are judged."""
    checks = {name: checker(entry) for name, entry in known.items()}
    required = frozenset(schema.get("required", ()))
    closed = schema.get("additionalProperties", True) is False

    def check(values: Values) -> bool:
        tables: dict[tuple[str, ...], list[Values]] = defaultdict(list)
        for value in values:
            tables[tuple(value)].append(value.values())
        columns: dict[str, list[Any]] = defaultdict(list)
        for names, rows in tables.items():
            if not required.issubset(names) or (closed and not checks.keys() >= set(names)):
                return False
            for name, column in zip(names, zip(*rows, strict=True), strict=True):
                columns[name].extend(column)
        return all(checks[name](columns[name]) for name in columns.keys() & checks.keys())

    return check


def _entries(schema: Schema, _parent: Schema) -> Check:
    check = checker(schema)
    return lambda values: check(list(chain.from_iterable(values)))


def _every(schemas: list[Schema], _parent: Schema) -> Check:
    return _all_of([checker(schema) for schema in schemas])


def _if(condition: Schema, parent: Schema) -> Check:
    """Only the discriminator is known: a required field that has one of some values."""
    name, *others = condition.get("required", ("",))
    wanted = condition.get("properties", {}).get(name, {})
    asked = {"required": [name], "properties": {name: wanted}}
    if others or condition != asked or wanted.keys() not in ({"const"}, {"enum"}):
        message = "a condition that is no discriminator"
        raise UnknownKeywordError(message)
    allowed = wanted["enum"] if "enum" in wanted else [wanted["const"]]
    check = checker(parent["then"])
    return lambda values: check([value for value in values if value.get(name) in allowed])


def _bound(measure: Callable[[Values], Any], *, least: bool) -> Callable[[Any, Schema], Check]:
    """A bound of the least or the greatest; an empty column has neither."""
    if least:
        return lambda bound, _: lambda values: not values or measure(values) >= bound
    return lambda bound, _: lambda values: not values or measure(values) <= bound


def _least_length(values: Values) -> int:
    return min(map(len, values))


def _greatest_length(values: Values) -> int:
    return max(map(len, values))


_KEYWORDS: dict[str, Callable[[Any, Schema], Check]] = {
    "type": _type,
    "const": lambda value, schema: _among([value], schema),
    "enum": _among,
    "allOf": _every,
    "minimum": _bound(min, least=True),
    "maximum": _bound(max, least=False),
    "minLength": _bound(_least_length, least=True),
    "maxLength": _bound(_greatest_length, least=False),
    "minItems": _bound(_least_length, least=True),
    "maxItems": _bound(_greatest_length, least=False),
    "pattern": _pattern,
    "format": _format,
    "properties": _objects,
    "items": _entries,
    "if": _if,
}
