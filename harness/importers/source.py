"""How is a file of another tool read? Broken and foreign ones end in one line with the place."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import orjson

from harness.errors import BadInputError
from schemas.finding import ROOT, child_path, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import NoReturn

    from schemas.codec import Json

MAX_BYTES = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_ARM = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,39})=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One file as it was given: its name, its bytes, and the arm that `ARM=FILE` names."""

    name: str
    data: bytes
    arm: str | None = None

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return self.name.rsplit(".", 1)[0]


def given(path: Path, arm: str | None = None) -> Given:
    """Read one file. Raises `BadInputError` when that is not possible."""
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path}: larger than {MAX_BYTES >> 20} MiB; give the raw records only"
            raise BadInputError(message)
        return Given(name=path.name, data=path.read_bytes(), arm=arm)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise BadInputError(message) from error


def arm_and_path(argument: str) -> tuple[str | None, str]:
    """The arm and the path in `ARM=FILE`, or no arm and the path."""
    match = _ARM.fullmatch(argument)
    return (match[1].lower(), match[2]) if match else (None, argument)


def digest(files: Sequence[Given]) -> str:
    """SHA-256 of the file; of several, over their digests in hex, a line each, as given."""
    digests = [hashlib.sha256(file.data).hexdigest() for file in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(f"{each}\n" for each in digests).encode()).hexdigest()


def text(file: Given) -> str:
    """The text of a file, without a byte-order mark."""
    data = file.data.removeprefix(_BOM)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{file.name}: not UTF-8 at byte {error.start}; save it as UTF-8"
        raise BadInputError(message) from error


def document(file: Given) -> Json:
    """The JSON value of a file."""
    return _json(text(file), file.name)


def lines(file: Given) -> Iterator[Entry]:
    """The objects of a JSON Lines file, or of one JSON list; blank lines are skipped."""
    whole = text(file)
    if whole.lstrip().startswith("["):
        yield from Entry.of(file, {"": document(file)}).children("")
        return
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            place = f"{file.name}: line {number}"
            yield Entry(file=place, path=ROOT, value=_object(_json(line, place), place, ROOT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One JSON object with its place. A key that is missing or null is `None`, never 0."""

    file: str
    path: str
    value: dict[str, Json]

    @classmethod
    def of(cls, file: Given, value: Json) -> Entry:
        """The outermost object of a file."""
        return cls(file=file.name, path=ROOT, value=_object(value, file.name, ROOT))

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
        if not _is_number(value) or not math.isfinite(value) or value < 0:
            self.refuse(key, "a number from 0")
        return float(value)

    def count(self, key: str) -> int | None:
        """A whole number from 0."""
        value = self.value.get(key)
        if value is None:
            return None
        if not _is_number(value) or value < 0 or value != int(value):
            self.refuse(key, "a whole number from 0")
        return int(value)

    def counts(self, key: str) -> list[int] | None:
        """A list of whole numbers from 0."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self.refuse(key, "a list of whole numbers")
        inner = {str(number): each for number, each in enumerate(value)}
        entry = Entry(file=self.file, path=child_path(self.path, key), value=inner)
        return [entry.count(name) or 0 for name in inner]

    def numbers(self, key: str) -> list[float] | None:
        """A list of numbers from 0."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self.refuse(key, "a list of numbers")
        inner = {str(number): each for number, each in enumerate(value)}
        entry = Entry(file=self.file, path=child_path(self.path, key), value=inner)
        return [entry.number(name) or 0.0 for name in inner]

    def child(self, key: str) -> Entry | None:
        """An object inside this one."""
        value = self.value.get(key)
        if value is None:
            return None
        path = child_path(self.path, key)
        return Entry(file=self.file, path=path, value=_object(value, self.file, path))

    def children(self, key: str) -> list[Entry]:
        """A list of objects; it must be there."""
        found = self.value.get(key)
        if not isinstance(found, list):
            self.refuse(key, "a list")
        base = child_path(self.path, key) if key else self.path
        places = [child_path(base, number) for number in range(len(found))]
        return [
            Entry(file=self.file, path=path, value=_object(each, self.file, path))
            for path, each in zip(places, found, strict=True)
        ]

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raise the error that a value is not what the format has there."""
        found = "is missing" if key not in self.value else f"is {shown(self.value[key])}"
        message = f"{self.file}: {child_path(self.path, key)} {found}, expected {expected}"
        raise BadInputError(message)


def _json(found: str, place: str) -> Json:
    try:
        value: Json = orjson.loads(found)
    except orjson.JSONDecodeError as error:
        message = f"{place}: not JSON: {error}; give the file as the tool wrote it"
        raise BadInputError(message) from error
    return value


def _object(value: Json, file: str, path: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        message = f"{file}: {path} is {shown(value)}, expected an object"
        raise BadInputError(message)
    return value


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
