"""Read JSON values from another tool's files; an error names the place of the wrong value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NoReturn, Self, TypeVar

import orjson

from harness.errors import BadInputError
from schemas.codec import Json
from schemas.finding import ROOT, child_path, shown

_Value = TypeVar("_Value")
MS_PER_S = 1000.0
# Larger numbers must be wrong, and would overflow a date or a result's field.
_LARGEST = 10**15
_LAST_MOMENT_S = 253_402_300_799  # the end of the year 9999
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

    A JSON list is treated as an object whose keys are positions.
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

    def text(self, key: str) -> str | None:
        """Return a string without surrounding spaces; `None` if it is missing or blank."""
        value = self.fields.get(key)
        if value is not None and not isinstance(value, str):
            self.refuse(key, "a text")
        return value.strip() or None if value else None

    def number(self, key: str, expected: str = "a number of at least 0") -> float | None:
        """Return a number, which must be at least 0."""
        value = self.fields.get(key)
        if value is None:
            return None
        if isinstance(value, bool | str | list | dict) or not 0 <= value <= _LARGEST:
            self.refuse(key, expected)
        return float(value)

    def count(self, key: str) -> int | None:
        """Return a whole number, which must be at least 0."""
        expected = "a whole number of at least 0"
        value = self.number(key, expected)
        if value is not None and not value.is_integer():
            self.refuse(key, expected)
        return None if value is None else int(value)

    def moment(self, key: str) -> datetime | None:
        """Convert seconds since 1970 to a time; `None` if they are missing or zero."""
        seconds = self.number(key)
        if not seconds:
            return None
        if seconds > _LAST_MOMENT_S:
            self.refuse(key, "a time in seconds since 1970")
        return datetime.fromtimestamp(int(seconds), tz=UTC)

    def counts(self, key: str) -> list[int] | None:
        """Return a list of whole numbers, which must be at least 0; a null element becomes 0."""
        if self.fields.get(key) is None:
            return None
        inner = self.elements(key)
        return [inner.count(position) or 0 for position in inner.fields]

    def numbers(self, key: str) -> list[float | None] | None:
        """Return a list of numbers, which must be at least 0; a null element means unknown."""
        if self.fields.get(key) is None:
            return None
        inner = self.elements(key)
        return [inner.number(position) for position in inner.fields]

    def elements(self, key: str) -> Self:
        """Return a list as an object whose keys are positions. Raises if the list is missing."""
        found = self.fields.get(key)
        if not isinstance(found, list):
            self.refuse(key, "a list")
        fields = {str(number): each for number, each in enumerate(found)}
        return replace(self, path=self.path_of(key), fields=fields, is_list=True)

    def child(self, key: str) -> Self | None:
        return None if self.fields.get(key) is None else self.required(key)

    def children(self, key: str) -> list[Self]:
        """Return a list of objects. Raises if the list is missing."""
        inner = self.elements(key)
        return [inner.required(position) for position in inner.fields]

    def required(self, key: str) -> Self:
        """Return a nested object. Raises if the object is missing."""
        value = self.fields.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "an object")
        return replace(self, path=self.path_of(key), fields=value, is_list=False)

    def needed(self, key: str, value: _Value | None, expected: str) -> _Value:
        """Return a value unchanged. Raises if the value is missing."""
        if value is None:
            self.refuse(key, expected)
        return value

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raise the error for a value that does not match the format."""
        found = f"is {shown(self.fields[key])}" if key in self.fields else "is missing"
        raise BadInputError(f"{self.source}: {self.path_of(key)} {found}, expected {expected}")

    def path_of(self, key: str) -> str:
        """Return the path of a value in this object; an empty key means the object itself."""
        if not key:
            return self.path
        return child_path(self.path, int(key) if self.is_list else key)
