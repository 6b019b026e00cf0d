"""Read values at paths in another tool's JSON; an error names the place of the wrong value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, NoReturn, Self

import msgspec
import orjson
from msgspec import Meta

from harness.errors import BadInputError
from harness.imports.source_files import Given, wrong
from schemas.codec import Json
from schemas.finding import ROOT, child_path, shown

MS_PER_S = 1000.0
# Larger numbers must be wrong, and would overflow a date or a result's field.
_Number = Annotated[float, Meta(ge=0, le=1e15)]
_Whole = Annotated[float, Meta(ge=0, le=1e15, multiple_of=1)]  # a tool may write 5.0
# Python's `json` writes these for missing numbers, although they are not valid JSON.
_NO_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)\b')


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value with its place. A missing value is null, and is read as `None`, never as 0."""

    source: str  # the file, or a line of the file
    json: Json
    steps: tuple[str | int, ...] = ()  # from the outermost value to this one

    @property
    def place(self) -> str:
        return f"{self.source}: {reduce(child_path, self.steps, ROOT)}"

    def at(self, path: str) -> Self:
        """Return the value at a dotted path; missing objects on the way are null.

        Raises if another value is on the way.
        """
        found, keys = self.json, path.split(".")
        for number, key in enumerate(keys):
            if isinstance(found, dict):
                found = found.get(key)
            elif found is not None:
                type(self)(self.source, found, (*self.steps, *keys[:number])).refuse("an object")
        return type(self)(self.source, found, (*self.steps, *keys))

    def has(self, path: str) -> bool:
        """Whether there is a value at a dotted path."""
        found = self.json
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found is not None

    def object(self) -> Self:
        """Return this object. Raises if it is missing or not an object."""
        if not isinstance(self.json, dict):
            self.refuse("an object")
        return self

    def each(self) -> list[Self]:
        """Return the elements of a list. Raises if it is missing or not a list."""
        if not isinstance(self.json, list):
            self.refuse("a list")
        elements = enumerate(self.json)
        return [type(self)(self.source, each, (*self.steps, at)) for at, each in elements]

    def text(self) -> str | None:
        """Return a string without surrounding spaces; `None` if it is missing or blank."""
        value: str | None = self._as(str, "a text")
        return value.strip() or None if value else None

    def number(self) -> float | None:
        """Return a number, which must be at least 0."""
        value: float | None = self._as(_Number, "a number of at least 0")
        return value

    def count(self) -> int | None:
        """Return a whole number, which must be at least 0."""
        value: float | None = self._as(_Whole, "a whole number of at least 0")
        return None if value is None else int(value)

    def _as(self, kind: Any, expected: str) -> Any:  # noqa: ANN401 - a type, a value of it
        try:
            return None if self.json is None else msgspec.convert(self.json, kind)
        except msgspec.ValidationError:
            self.refuse(expected)

    def inside(self) -> Iterator[Self]:
        """Yield the nested objects, and those in nested lists."""
        for key, value in (self.json if isinstance(self.json, dict) else {}).items():
            child = type(self)(self.source, value, (*self.steps, key))
            each = child.each() if isinstance(value, list) else [child]
            yield from (inner for inner in each if isinstance(inner.json, dict))

    def refuse(self, expected: str) -> NoReturn:
        """Raise the error for a value that does not match the format."""
        found = "is missing" if self.json is None else f"is {shown(self.json)}"
        raise BadInputError(f"{self.place} {found}, expected {expected}")


def parse(found: str, place: str) -> Json:
    """Parse JSON. NaN and Infinity become null, which means unknown."""
    if "NaN" in found or "Infinity" in found:
        found = _NO_NUMBER.sub(lambda m: m[0] if m[0].startswith('"') else "null", found)
    try:
        value: Json = orjson.loads(found)
    except orjson.JSONDecodeError as error:
        remedy = "give the file unchanged, as the tool wrote it"
        raise wrong(place, f"not JSON: {error}", remedy) from error
    return value


def rows(file: Given) -> Iterator[Value]:
    """Yield the objects of JSON Lines, of a list, or of objects that span several lines."""
    whole = file.text
    try:
        value = Value(file.name, parse(whole, file.name))
    except BadInputError:
        # Each object begins a line with the first object's indentation; its contents are indented
        # further.
        before, brace, _ = whole.partition("{")
        indent = before.rpartition("\n")[2]
        is_first = brace and not before.strip()
        objects = re.split(rf"\n(?={re.escape(indent)}\{{)", whole) if is_first else []
        if len(objects) < 2:  # noqa: PLR2004 - several
            raise
        number = 1
        for each in objects:
            if each.strip():
                place = f"{file.name}: line {number}"
                yield Value(place, parse(each, place)).object()
            number += each.count("\n") + 1
        return
    yield from (
        each.object() for each in (value.each() if isinstance(value.json, list) else [value])
    )
