"""Parses the header of a GGUF file from its first megabytes: fields, and tensors with their bytes.

Arrays of texts are skipped: reading a vocabulary takes a library seconds.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from harness.errors import BadInputError

ReadRange = Callable[[int, int], bytes]
Value = int | float | bool | str | list[int]

_FIRST_BYTES = 4 * 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_GROWTH = 4
_ALIGNMENT = 32
_VERSIONS = (2, 3)
_LONGEST_KEPT_ARRAY = 4096
_LONGEST_NAME = 1 << 16
_STRING, _ARRAY, _BOOL = 8, 9, 7
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
    """A tensor's name, shape and size."""

    name: str
    dimensions: tuple[int, ...]
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The header of one file: its fields, its tensors, and where the header ends."""

    fields: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    end: int

    @property
    def file_bytes(self) -> int:
        """The length of the whole file: every tensor begins at a multiple of the alignment."""
        alignment = self.fields.get("general.alignment")
        step = alignment if isinstance(alignment, int) and alignment > 0 else _ALIGNMENT
        return sum(-(-size // step) * step for size in (self.end, *(x.bytes for x in self.tensors)))


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


def reader_of(path: Path) -> ReadRange:
    """Reads parts of a file on this disk."""

    def read(start: int, length: int) -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(start)
                return file.read(length)
        except OSError as error:
            message = f"{path.name} cannot be read ({error.strerror}); check its permissions"
            raise BadInputError(message) from error

    return read


def sparse_copy(header: bytes, total_bytes: int, path: Path) -> None:
    """A file with this header and nothing but a hole after it, as long as the whole."""
    with path.open("wb") as file:
        file.write(header)
        file.truncate(total_bytes)


class _Cursor:
    """A position in the bytes of a header."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, format_: str) -> int | float | bool:
        size = struct.calcsize("<" + format_)
        self.require(size)
        value: int | float | bool = struct.unpack_from("<" + format_, self.data, self.position)[0]
        self.position += size
        return value

    def count(self, format_: str = "Q") -> int:
        return int(self.take(format_))

    def require(self, size: int) -> None:
        if self.position + size > len(self.data):
            raise _CutOffError

    def text(self) -> str:
        length = self.count()
        self.require(length)
        found = self.data[self.position : self.position + length].decode("utf-8", "replace")
        self.position += length
        return found

    def name(self) -> str:
        length = struct.unpack_from("<Q", self.data, self.position)[0] if self._left() else 0
        if length > _LONGEST_NAME:
            message = f"a name of {length} bytes"
            raise ValueError(message)
        return self.text()

    def _left(self) -> bool:
        return self.position + 8 <= len(self.data)


def _parsed(name: str, data: bytes) -> Beginning:
    cursor = _Cursor(data)
    cursor.require(24)
    if data[:4] != b"GGUF":
        message = f"{name} is not a GGUF file: it does not start with GGUF"
        raise BadInputError(message)
    cursor.position = 4
    version = cursor.count("I")
    if version not in _VERSIONS:
        message = f"version {version} of the format"
        raise ValueError(message)
    tensors, pairs = cursor.count(), cursor.count()
    fields: dict[str, Value] = {}
    for _ in range(pairs):
        key = cursor.name()
        value = _value(cursor, cursor.count("I"))
        if value is not None:
            fields[key] = value
    listed = tuple(_tensor(cursor) for _ in range(tensors))
    return Beginning(fields=fields, tensors=listed, end=cursor.position)


def _value(cursor: _Cursor, kind: int) -> Value | None:
    if kind == _STRING:
        return cursor.text()
    if kind != _ARRAY:
        return cursor.take(_FORMATS[kind])
    inner, length = cursor.count("I"), cursor.count()
    if inner == _STRING:
        for _ in range(length):
            size = cursor.count()
            cursor.require(size)
            cursor.position += size
        return None
    size = struct.calcsize("<" + _FORMATS[inner]) * length
    cursor.require(size)
    kept = None
    if length <= _LONGEST_KEPT_ARRAY and _FORMATS[inner] not in "fd":
        kept = [int(cursor.take(_FORMATS[inner])) for _ in range(length)]
    else:
        cursor.position += size
    return kept


def _tensor(cursor: _Cursor) -> Tensor:
    name = cursor.name()
    dimensions = tuple(cursor.count() for _ in range(min(cursor.count("I"), 8)))
    kind = GGMLQuantizationType(cursor.count("I"))
    cursor.count()
    elements = 1
    for size in dimensions:
        elements *= size
    block, size = GGML_QUANT_SIZES[kind]
    return Tensor(name=name, dimensions=dimensions, bytes=elements // block * size)
