"""Read JSON values from another tool's files; an error names the place of the wrong value."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NoReturn, Self, TypeVar

import msgspec
import orjson
from msgspec import Meta

from harness.errors import BadInputError
from harness.imports.source_files import Given, text
from schemas.codec import Json
from schemas.finding import ROOT, child_path, shown

_Value = TypeVar("_Value")
MS_PER_S = 1000.0
# Larger numbers must be wrong, and would overflow a date or a result's field.
_Number = Annotated[float, Meta(ge=0, le=1e15)]
_Whole = Annotated[float, Meta(ge=0, le=1e15, multiple_of=1)]  # a tool may write 5.0
# Python's `json` writes these for missing numbers, although they are not valid JSON.
_NO_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)\b')


def parse(found: str, place: str) -> Json:
    """Parse JSON. NaN and Infinity become null, which means unknown."""
    if "NaN" in found or "Infinity" in found:
        found = _NO_NUMBER.sub(lambda m: m[0] if m[0].startswith('"') else "null", found)
    try:
        value: Json = orjson.loads(found)
    except orjson.JSONDecodeError as error:
        raise BadInputError(
            f"{place}: not JSON: {error}; give the file unchanged, as the tool wrote it"
        ) from error
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonObject:
    """One JSON object with its place in the file. A missing key or null is read as `None`, never 0.

    A JSON list is treated as an object whose keys are positions. `text`, `number`, `count` and
    lists of numbers are read at a key, or at a dotted path through nested objects.
    """

    source: str  # the file, or a line of the file
    path: str
    fields: Mapping[str, Json]
    is_list: bool = False

    @classmethod
    def of(cls, source: str, value: Json) -> Self:
        """Return the outermost object of a file, or of a line in the file."""
        return cls(source=source, path=ROOT, fields={"": value}).required("")

    @property
    def place(self) -> str:
        return f"{self.source}: {self.path}"

    def text(self, path: str) -> str | None:
        """Return a string without surrounding spaces; `None` if it is missing or blank."""
        value: str | None = self._read(path, str, "a text")
        return value.strip() or None if value else None

    def number(self, path: str) -> float | None:
        """Return a number, which must be at least 0."""
        value: float | None = self._read(path, _Number, "a number of at least 0")
        return value

    def count(self, path: str) -> int | None:
        """Return a whole number, which must be at least 0."""
        value: float | None = self._read(path, _Whole, "a whole number of at least 0")
        return None if value is None else int(value)

    def _read(self, path: str, kind: object, expected: str) -> Any:  # noqa: ANN401 - of that kind
        holder, key = self._at(path)
        value = holder.fields.get(key)
        try:
            return None if value is None else msgspec.convert(value, kind)
        except msgspec.ValidationError:
            holder.refuse(key, expected)

    def counts(self, path: str) -> list[int] | None:
        """Return a list of whole numbers, which must be at least 0; a null element becomes 0."""
        inner = self._list(path)
        return None if inner is None else [inner.count(at) or 0 for at in inner.fields]

    def numbers(self, path: str) -> list[float | None] | None:
        """Return a list of numbers, which must be at least 0; a null element means unknown."""
        inner = self._list(path)
        return None if inner is None else [inner.number(at) for at in inner.fields]

    def _list(self, path: str) -> Self | None:
        holder, key = self._at(path)
        return None if holder.fields.get(key) is None else holder.elements(key)

    def elements(self, key: str) -> Self:
        """Return a list as an object whose keys are positions. Raises if the list is missing."""
        found = self.fields.get(key)
        if not isinstance(found, list):
            self.refuse(key, "a list")
        fields = {str(number): each for number, each in enumerate(found)}
        return replace(self, path=self._path_of(key), fields=fields, is_list=True)

    def children(self, key: str) -> list[Self]:
        """Return a list of objects. Raises if the list is missing."""
        inner = self.elements(key)
        return [inner.required(position) for position in inner.fields]

    def child(self, key: str) -> Self | None:
        return None if self.fields.get(key) is None else self.required(key)

    def required(self, key: str) -> Self:
        """Return a nested object. Raises if the object is missing."""
        value = self.fields.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "an object")
        return replace(self, path=self._path_of(key), fields=value, is_list=False)

    def inside(self) -> Iterator[Self]:
        """Yield the nested objects, and those in nested lists."""
        for key, value in self.fields.items():
            if isinstance(value, dict):
                yield self.required(key)
            elif isinstance(value, list) and not self.is_list:
                yield from self.elements(key).inside()

    def holder(self, path: str) -> tuple[Self, str] | None:
        """Return the innermost object on a path, and the last key; `None` without a value there."""
        holder, (*outer, key) = self, path.split(".")
        for name in outer:
            if not isinstance(holder.fields.get(name), dict):
                return None
            holder = holder.required(name)
        return None if holder.fields.get(key) is None else (holder, key)

    def _at(self, path: str) -> tuple[Self, str]:
        """Return the innermost object on a path, and the last key. Raises if one is no object."""
        outer, _, key = path.rpartition(".")
        holder = self
        for name in filter(None, outer.split(".")):
            holder = holder.child(name) or replace(holder, fields={})
        return holder, key

    def needed(self, key: str, value: _Value | None, expected: str) -> _Value:
        """Return a value unchanged. Raises if the value is missing."""
        if value is None:
            self.refuse(key, expected)
        return value

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raise the error for a value that does not match the format."""
        found = f"is {shown(self.fields[key])}" if key in self.fields else "is missing"
        raise BadInputError(f"{self.source}: {self._path_of(key)} {found}, expected {expected}")

    def _path_of(self, key: str) -> str:
        """Return the path of a value in this object; an empty key means the object itself."""
        if not key:
            return self.path
        return child_path(self.path, int(key) if self.is_list else key)


def lines(file: Given) -> Iterator[JsonObject]:
    """Yield the objects of JSON Lines, of a list, or of objects that span several lines."""
    whole = text(file)
    try:
        value = parse(whole, file.name)
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
                yield JsonObject.of(place, parse(each, place))
            number += each.count("\n") + 1
        return
    if isinstance(value, list):
        yield from JsonObject.of(file.name, {"": value}).children("")
    else:
        yield JsonObject.of(file.name, value)
