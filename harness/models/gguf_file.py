"""Reads the headers of GGUF files: fields, the vocabulary, and tensors with their bytes.

A library reads a vocabulary token by token into arrays, which takes it twenty seconds; here a list
of texts is passed over and decoded only when somebody asks for it.
"""

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from harness.errors import BadInputError

ReadRange = Callable[[int, int], bytes]
Value = int | float | bool | str | list[int]

_MAGIC = b"GGUF"
# A model in several files: the parts' common name, the part's number and the number of parts.
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
# What is often found under the name of a model, by its first bytes.
_OTHERS = {
    b"version https://git-lfs": "a pointer of Git LFS; `git lfs pull` fetches the file itself",
    b"PK\x03\x04": "a zip archive; unpack it",
    b"ggjt": "of a format before GGUF; look for a newer file of the model",
    b"<": "a web page; download the file itself",
}
_LONGEST = max(map(len, _OTHERS))

_FIRST_BYTES = 4 * 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_GROWTH = 4
_VERSIONS = (2, 3)
_ALIGNMENT = 32  # of the weights, where the file names no other
_LONGEST_KEPT_ARRAY = 4096
_LONGEST_NAME = 1 << 16
_STRING, _ARRAY = 8, 9
_LENGTH = struct.Struct("<Q")
_FORMATS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


class _CutOffError(Exception):
    """The bytes at hand end before the header does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor's name, shape and type, its size and where it starts after the header."""

    name: str
    dimensions: tuple[int, ...]
    type: str
    bytes: int
    offset: int

    @property
    def elements(self) -> int:
        return prod(self.dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The header of one file: its fields, its tensors, and where the header ends."""

    fields: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    end: int
    data: bytes = field(repr=False)
    # Of each list of texts: where its first text starts, and how many there are.
    lists: Mapping[str, tuple[int, int]] = field(repr=False)

    @property
    def file_bytes(self) -> int:
        """The length of the whole file: every tensor begins at a multiple of the alignment."""
        step = self.number("general.alignment") or _ALIGNMENT
        return sum(-(-size // step) * step for size in (self.end, *(x.bytes for x in self.tensors)))

    def text(self, key: str) -> str | None:
        """A field that is a text; `None` when it is missing or empty."""
        value = self.fields.get(key)
        return value.strip() or None if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        """A field that is a whole number; of one number per layer the largest."""
        value = self.fields.get(key)
        if isinstance(value, list):
            return max(value, default=None)
        return int(value) if isinstance(value, int) else None

    def flag(self, key: str, *, default: bool) -> bool:
        """A field that is yes or no."""
        return bool(self.fields.get(key, default))

    def texts(self, key: str) -> tuple[bytes, ...]:
        """A field that is a list of texts; empty when it is missing."""
        position, count = self.lists.get(key, (0, 0))
        found = []
        for _ in range(count):
            start = position + _LENGTH.size
            position = start + _LENGTH.unpack_from(self.data, position)[0]
            found.append(self.data[start:position])
        return tuple(found)


def opened(path: Path) -> Beginning:
    """The header of a whole file. Raises `BadInputError` with what is wrong and what to do."""
    check_start(path)
    found = beginning(path.name, _reader_of(path))
    alignment = found.number("general.alignment") or _ALIGNMENT
    weights = found.end + -found.end % alignment
    last = max((tensor.offset + tensor.bytes for tensor in found.tensors), default=0)
    size = path.stat().st_size
    if found.tensors and weights + last > size:
        message = f"{path.name} is cut off or broken after {size / 1e6:.1f} MB; download it again"
        raise BadInputError(message)
    return found


def part_paths(path: Path) -> tuple[Path, ...]:
    """The files that make up the model, first part first, when `path` is one of several."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    stem, count = match["stem"], match["count"]
    names = [f"{stem}-{number:05d}-of-{count}.gguf" for number in range(1, int(count) + 1)]
    parts = tuple(path.with_name(name) for name in names)
    for part in parts:
        if not part.is_file():
            message = f"{part.name} is missing; all {int(count)} parts must be in the same folder"
            raise BadInputError(message)
    return parts


def refuse_renamed_part(first: Beginning, path: Path) -> None:
    """Raise `BadInputError` for a part of a split model whose name does not lead to the others."""
    count = first.number("split.count") or 1
    if count > 1 and _PART.fullmatch(path.name) is None:
        part = (first.number("split.no") or 0) + 1
        message = (
            f"{path.name} is part {part} of {count} of a model; "
            f"put all parts into one folder, named NAME-00001-of-{count:05d}.gguf and so on"
        )
        raise BadInputError(message)


def check_start(path: Path) -> None:
    """Raise `BadInputError` for a file that is none of GGUF, with what it is instead."""
    if not path.is_file():
        message = f"{path} does not exist; give a GGUF file, a preset or owner/repo:quant"
        raise BadInputError(message)
    try:
        with path.open("rb") as file:
            start = file.read(_LONGEST)
    except OSError as error:
        message = f"{path.name} cannot be read ({error.strerror}); check its permissions"
        raise BadInputError(message) from error
    if start.startswith(_MAGIC):
        return
    if not start:
        message = f"{path.name} is empty; download it again"
        raise BadInputError(message)
    known = next((what for begin, what in _OTHERS.items() if start.startswith(begin)), None)
    what = f"it is {known}" if known else "it does not start with GGUF; download it again"
    message = f"{path.name} is not a GGUF file: {what}"
    raise BadInputError(message)


def beginning(name: str, read: ReadRange) -> Beginning:
    """The header behind `read(start, length)`; it is asked for more until the header is whole."""
    data = b""
    while len(data) < _MOST_BYTES:
        more = read(len(data), max(_FIRST_BYTES, len(data) * (_GROWTH - 1)))
        data += more
        try:
            return _parsed(name, data)
        except _CutOffError:
            if not more:
                break
        except (ValueError, struct.error, KeyError, UnicodeDecodeError) as error:
            message = f"{name} has a broken header ({error}); download it again"
            raise BadInputError(message) from error
    message = f"{name} is cut off or broken: its header does not end; download it again"
    raise BadInputError(message)


def sparse_copy(header: bytes, total_bytes: int, path: Path) -> None:
    """Write a file with this header and nothing but a hole after it, as long as the whole."""
    with path.open("wb") as file:
        file.write(header)
        file.truncate(total_bytes)


def _reader_of(path: Path) -> ReadRange:
    def read(start: int, length: int) -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(start)
                return file.read(length)
        except OSError as error:
            message = f"{path.name} cannot be read ({error.strerror}); check its permissions"
            raise BadInputError(message) from error

    return read


class _Cursor:
    """A position in the bytes of a header."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, format_: str, count: int = 1) -> tuple[int | float | bool, ...]:
        values = struct.Struct(f"<{count}{format_}")
        start = self.passed(values.size)
        return values.unpack_from(self.data, start)

    def count(self, format_: str = "Q") -> int:
        return int(self.take(format_)[0])

    def text(self) -> str:
        start = self.passed(self.count())
        return self.data[start : self.position].decode("utf-8", "replace")

    def name(self) -> str:
        start = self.position
        length = self.count()
        if length > _LONGEST_NAME:
            message = f"a name of {length} bytes"
            raise ValueError(message)
        self.position = start
        return self.text()

    def passed(self, size: int) -> int:
        """Move on by so many bytes. Returns where they start."""
        start, self.position = self.position, self.position + size
        if self.position > len(self.data):
            raise _CutOffError
        return start

    def pass_texts(self, count: int) -> int:
        """Move on by so many texts: hundreds of thousands in a vocabulary, hence the bare loop."""
        data, position, start = self.data, self.position, self.position
        try:
            for _ in range(count):
                position += _LENGTH.size + _LENGTH.unpack_from(data, position)[0]
        except struct.error as error:
            raise _CutOffError from error
        self.passed(position - start)
        return start


def _parsed(name: str, data: bytes) -> Beginning:
    cursor = _Cursor(data)
    if data[: cursor.passed(len(_MAGIC)) + len(_MAGIC)] != _MAGIC:
        message = f"{name} is not a GGUF file: it does not start with GGUF"
        raise BadInputError(message)
    version = cursor.count("I")
    if version not in _VERSIONS:
        message = f"version {version} of the format"
        raise ValueError(message)
    tensors, pairs = cursor.count(), cursor.count()
    fields: dict[str, Value] = {}
    lists: dict[str, tuple[int, int]] = {}
    for _ in range(pairs):
        key, kind = cursor.name(), cursor.count("I")
        if kind == _STRING:
            fields[key] = cursor.text()
        elif kind != _ARRAY:
            fields[key] = cursor.take(_FORMATS[kind])[0]
        else:
            _keep_array(cursor, key, fields, lists)
    listed = tuple(_tensor(cursor) for _ in range(tensors))
    return Beginning(fields=fields, tensors=listed, end=cursor.position, data=data, lists=lists)


def _keep_array(
    cursor: _Cursor, key: str, fields: dict[str, Value], lists: dict[str, tuple[int, int]]
) -> None:
    inner, length = cursor.count("I"), cursor.count()
    if inner == _STRING:
        lists[key] = cursor.pass_texts(length), length
    elif length <= _LONGEST_KEPT_ARRAY and _FORMATS[inner] not in "fd":
        fields[key] = [int(value) for value in cursor.take(_FORMATS[inner], length)]
    else:
        cursor.passed(struct.calcsize(_FORMATS[inner]) * length)


def _tensor(cursor: _Cursor) -> Tensor:
    name = cursor.name()
    dimensions = tuple(cursor.count() for _ in range(min(cursor.count("I"), 8)))
    kind = GGMLQuantizationType(cursor.count("I"))
    block, size = GGML_QUANT_SIZES[kind]
    return Tensor(
        name=name,
        dimensions=dimensions,
        type=kind.name,
        bytes=prod(dimensions) // block * size,
        offset=cursor.count(),
    )
