"""Reads JSON values from another tool's files; a wrong one is reported with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NoReturn, TypeGuard

import orjson

from harness.errors import BadInputError
from harness.importers.model import Given, text
from schemas.codec import Json
from schemas.finding import ROOT, child_path, shown

# Beyond these a figure is a slip, and a calendar or a result cannot hold what follows from it.
_LARGEST = 10**15
_LAST_MOMENT_S = 253_402_300_799  # of the year 9999
# Python's `json` writes these where a figure is missing, though JSON has no such values.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]\n]')
_NO_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)\b')


def document(file: Given) -> Json:
    """The JSON value of a file. NaN and Infinity are no figures: they become null, unknown."""
    return _json(text(file), file.name)


def lines(file: Given) -> Iterator[Entry]:
    """The objects of JSON Lines, of one list, or one object or several, however they stand."""
    whole = text(file)
    try:
        value = _json(whole, file.name)
    except BadInputError:
        rows = whole if _is_one_line(whole) else _one_a_line(whole)
        if not _is_one_line(rows) or rows.strip().count("\n") == 0:
            raise
        yield from _by_line(file, rows)
        return
    if isinstance(value, list):
        yield from Entry.of(file, {"": value}).children("")
    else:
        yield Entry.of(file, value)


def _is_one_line(whole: str) -> bool:
    """Whether the first line looks like a whole object, as in JSON Lines."""
    first = next((line.strip() for line in whole.split("\n") if line.strip()), "")
    return first.startswith("{") and first.endswith("}")


def _one_a_line(whole: str) -> str:
    """Objects over several lines, each joined on its first one; the lines after it stay empty."""
    depth = held = 0

    def placed(token: re.Match[str]) -> str:
        nonlocal depth, held
        sign = token[0]
        if sign == "\n" and depth:
            held += 1
            return " "
        depth += (sign in "{[") - (sign in "}]")
        if depth or not held:
            return sign
        ends, held = "\n" * held, 0
        return sign + ends

    return _TOKENS.sub(placed, whole)


def _by_line(file: Given, whole: str) -> Iterator[Entry]:
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            place = f"{file.name}: line {number}"
            found = _json(line, place)
            file.objects.append(found)
            value = _object(found, place, ROOT, file.seen)
            yield Entry(file=place, path=ROOT, value=value, seen=file.seen)


_CHUNK = "data:"  # a line of a streamed answer
# With `include_usage` the times stand in a chunk after the one that ends the answer.
_ENDS = re.compile(r'"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]')


def is_stream(file: Given) -> bool:
    """Whether a file holds streamed answers, chunk by chunk."""
    return text(file).lstrip().startswith(_CHUNK)


def last_chunks(file: Given) -> Given:
    """The chunk that ends each streamed answer, one a line: it has the times of llama-server."""
    chunks = [line[len(_CHUNK) :].strip() for line in text(file).splitlines() if line.strip()]
    before = ["", *chunks]  # a chunk after one with times repeats them
    ends = [each for each, last in zip(chunks, before, strict=False) if _ends(each, last)]
    return replace(file, data="\n".join(ends).encode() or b"{}")


def _ends(chunk: str, last: str) -> bool:
    is_end, was_end = ('"timings"' in each and _ENDS.search(each) for each in (chunk, last))
    return bool(is_end and not was_end)


class Noted(dict[str, Json]):
    """A JSON object that notes which of its keys are looked up."""

    def __init__(self, value: dict[str, Json], seen: set[str]) -> None:
        super().__init__(value)
        self._seen = seen

    def get(self, key: str, default: Json = None) -> Json:  # type: ignore[override]
        """The value of a key; the key counts as read."""
        self._seen.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Json:
        self._seen.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._seen.add(str(key))
        return super().__contains__(key)


def unread(file: Given) -> tuple[str, ...]:
    """The keys that nothing looked up, in order; nothing is listed below such a key."""
    found: dict[str, None] = {}
    waiting: list[object] = list(reversed(file.objects))
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            found |= dict.fromkeys(key for key in value if key not in file.seen)
            waiting += [inner for key, inner in reversed(value.items()) if key in file.seen]
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One JSON object with its place. A key that is missing or null is `None`, never 0."""

    file: str
    path: str
    value: dict[str, Json]
    is_list: bool = False
    seen: set[str] = field(default_factory=set, compare=False, repr=False)

    @classmethod
    def of(cls, file: Given, value: Json) -> Entry:
        """The outermost object of a file."""
        file.objects.append(value)
        noted = _object(value, file.name, ROOT, file.seen)
        return cls(file=file.name, path=ROOT, value=noted, seen=file.seen)

    @property
    def place(self) -> str:
        """Where this object stands, for people."""
        return f"{self.file}: {self.path}"

    def text(self, key: str) -> str | None:
        """A text that is not blank."""
        value = self.value.get(key)
        if value is not None and not isinstance(value, str):
            self.refuse(key, "a text")
        return value.strip() or None if value else None

    def number(self, key: str) -> float | None:
        """A number from 0."""
        value = self.value.get(key)
        if value is None:
            return None
        if not _is_number(value) or not 0 <= value <= _LARGEST:
            self.refuse(key, "a number from 0")
        return float(value)

    def count(self, key: str) -> int | None:
        """A whole number from 0."""
        value = self.value.get(key)
        if value is None:
            return None
        if not _is_number(value) or not 0 <= value <= _LARGEST or value != int(value):
            self.refuse(key, "a whole number from 0")
        return int(value)

    def moment(self, key: str) -> datetime | None:
        """A time in seconds since 1970."""
        seconds = self.number(key)
        if not seconds:
            return None
        if seconds > _LAST_MOMENT_S:
            self.refuse(key, "a time in seconds since 1970")
        return datetime.fromtimestamp(int(seconds), tz=UTC)

    def counts(self, key: str) -> list[int] | None:
        """A list of whole numbers from 0."""
        if self.value.get(key) is None:
            return None
        inner = self.elements(key)
        return [inner.count(position) or 0 for position in inner.value]

    def numbers(self, key: str) -> list[float | None] | None:
        """A list of numbers from 0; null among them is unknown."""
        if self.value.get(key) is None:
            return None
        inner = self.elements(key)
        return [inner.number(position) for position in inner.value]

    def elements(self, key: str) -> Entry:
        """A list as an object with its positions for keys; it must be there."""
        found = self.value.get(key)
        if not isinstance(found, list):
            self.refuse(key, "a list")
        inner = {str(number): each for number, each in enumerate(found)}
        path = self.path_of(key)
        return Entry(file=self.file, path=path, value=inner, is_list=True, seen=self.seen)

    def child(self, key: str) -> Entry | None:
        """An object inside this one."""
        value = self.value.get(key)
        if value is None:
            return None
        path = self.path_of(key)
        noted = _object(value, self.file, path, self.seen)
        return Entry(file=self.file, path=path, value=noted, seen=self.seen)

    def children(self, key: str) -> list[Entry]:
        """A list of objects; it must be there."""
        inner = self.elements(key)
        places = [inner.path_of(position) for position in inner.value]
        return [
            Entry(
                file=self.file,
                path=path,
                value=_object(each, self.file, path, self.seen),
                seen=self.seen,
            )
            for path, each in zip(places, inner.value.values(), strict=True)
        ]

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raise the error that a value is not what the format has there."""
        found = "is missing" if key not in self.value else f"is {shown(self.value[key])}"
        message = f"{self.file}: {self.path_of(key)} {found}, expected {expected}"
        raise BadInputError(message)

    def path_of(self, key: str) -> str:
        """Where a value of this object stands; an empty key is the object itself."""
        if not key:
            return self.path
        return child_path(self.path, int(key) if self.is_list else key)


def _json(found: str, place: str) -> Json:
    try:
        value: Json = orjson.loads(_without_no_number(found))
    except orjson.JSONDecodeError as error:
        message = f"{place}: not JSON: {error}; give the file as the tool wrote it"
        raise BadInputError(message) from error
    return value


def _without_no_number(found: str) -> str:
    if "NaN" not in found and "Infinity" not in found:
        return found
    return _NO_NUMBER.sub(lambda match: match[0] if match[0].startswith('"') else "null", found)


def _object(value: Json, file: str, path: str, seen: set[str]) -> dict[str, Json]:
    if not isinstance(value, dict):
        message = f"{file}: {path} is {shown(value)}, expected an object"
        raise BadInputError(message)
    return Noted(value, seen)


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
