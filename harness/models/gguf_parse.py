"""Parse the header of a GGUF file: fields, the vocabulary, and tensors with their sizes.

The gguf package reads a vocabulary token by token into arrays, which takes seconds. This parser
skips lists of strings, and decodes such a list only on demand.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, prod

from harness.errors import BadInputError

ReadRange = Callable[[int, int], bytes]
Value = int | float | bool | str | list[int]

MAGIC = b"GGUF"
ALIGNMENT = 32  # of the weights, unless the file states a different one

_FIRST_BYTES = 4 * 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_GROWTH = 4
_VERSIONS = (2, 3)
_LONGEST_KEPT_ARRAY = 4096
_LONGEST_NAME = 1 << 16
_STRING, _ARRAY = 8, 9
_LENGTH = struct.Struct("<Q")
# The `struct` formats by the format's type numbers.
_FORMATS = {**dict(enumerate("BbHhIif?")), **dict(enumerate("Qqd", start=10))}


class _CutOffError(Exception):
    """Raised if the available bytes end before the header does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor's name, shape, type and size, and its offset from the start of the tensor data."""

    name: str
    dimensions: tuple[int, ...]
    type: str
    bytes: int
    offset: int

    @property
    def elements(self) -> int:
        return prod(self.dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """The header of one file: its fields, its tensors, and where the header ends."""

    fields: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    end: int
    data: bytes = field(repr=False)
    # For each list of texts: the position of the first text, and the number of texts.
    lists: Mapping[str, tuple[int, int]] = field(repr=False)

    @property
    def file_bytes(self) -> int:
        """The length of the whole file: every tensor begins at a multiple of the alignment."""
        step = self.number("general.alignment") or ALIGNMENT
        return sum(-(-size // step) * step for size in (self.end, *(x.bytes for x in self.tensors)))

    @property
    def architecture(self) -> str | None:
        return self.text("general.architecture")

    def text(self, key: str) -> str | None:
        """Return a string field; `None` if the field is missing or empty."""
        value = self.fields.get(key)
        return value.strip() or None if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        """Return a whole-number field; for a list with a number per layer, the largest."""
        value = self.fields.get(key)
        if isinstance(value, list):
            return max(value, default=None)
        return int(value) if isinstance(value, int) else None

    def own(self, key: str) -> Value | None:
        """Return an architecture-specific field; `key` omits the prefix, such as `llama.`."""
        return self.fields.get(f"{self.architecture}.{key}")

    def flag(self, key: str, *, default: bool) -> bool:
        return bool(self.fields.get(key, default))

    def texts(self, key: str) -> tuple[bytes, ...]:
        """Return a field that is a list of strings; empty if the field is missing."""
        position, count = self.lists.get(key, (0, 0))
        found = []
        for _ in range(count):
            start = position + _LENGTH.size
            position = start + _LENGTH.unpack_from(self.data, position)[0]
            found.append(self.data[start:position])
        return tuple(found)


def parse_header(name: str, read: ReadRange) -> GgufHeader:
    """Parse the header, calling `read(start, length)` until it is complete."""
    data = b""
    while len(data) < _MOST_BYTES:
        more = read(len(data), max(_FIRST_BYTES, len(data) * (_GROWTH - 1)))
        data += more
        try:
            return _parsed(name, data)
        except _CutOffError:
            if not more:
                break
        except (ValueError, OverflowError, struct.error, KeyError) as error:
            raise BadInputError(
                f"{name} has a broken header ({error}); download it again"
            ) from error
    raise BadInputError(f"{name} is cut off or broken: its header does not end; download it again")


@dataclass(slots=True)
class _Cursor:
    """A position in the bytes of a header."""

    data: bytes
    position: int = 0

    def take(self, format_: str, count: int = 1) -> tuple[int | float | bool, ...]:
        values = struct.Struct(f"<{count}{format_}")
        return values.unpack_from(self.data, self.passed(values.size))

    def count(self, format_: str = "Q") -> int:
        return int(self.take(format_)[0])

    def text(self, longest: float = inf) -> str:
        length = self.count()
        if length > longest:
            raise ValueError(f"a name of {length} bytes")
        start = self.passed(length)
        return self.data[start : self.position].decode("utf-8", "replace")

    def passed(self, size: int) -> int:
        """Skip a number of bytes, and return the position before them."""
        start, self.position = self.position, self.position + size
        if self.position > len(self.data):
            raise _CutOffError
        return start

    def pass_texts(self, count: int) -> int:
        """Skip `count` strings in a fast loop, and return the position before them."""
        data, position, start = self.data, self.position, self.position
        try:
            for _ in range(count):
                position += _LENGTH.size + _LENGTH.unpack_from(data, position)[0]
        except (struct.error, OverflowError) as error:
            raise _CutOffError from error
        self.passed(position - start)
        return start


def _parsed(name: str, data: bytes) -> GgufHeader:
    cursor = _Cursor(data)
    if data[: cursor.passed(len(MAGIC)) + len(MAGIC)] != MAGIC:
        raise BadInputError(f"{name} is not a GGUF file: it does not start with GGUF")
    version = cursor.count("I")
    if version not in _VERSIONS:
        raise ValueError(f"version {version} of the format")
    tensors, pairs = cursor.count(), cursor.count()
    fields: dict[str, Value] = {}
    lists: dict[str, tuple[int, int]] = {}
    for _ in range(pairs):
        key, kind = cursor.text(_LONGEST_NAME), cursor.count("I")
        if kind == _STRING:
            fields[key] = cursor.text()
        elif kind != _ARRAY:
            fields[key] = cursor.take(_FORMATS[kind])[0]
        else:
            _keep_array(cursor, key, fields, lists)
    listed = tuple(_tensor(cursor) for _ in range(tensors))
    return GgufHeader(fields=fields, tensors=listed, end=cursor.position, data=data, lists=lists)


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
    name = cursor.text(_LONGEST_NAME)
    dimensions = tuple(cursor.count() for _ in range(min(cursor.count("I"), 8)))
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType  # noqa: PLC0415 - imports numpy

    kind = GGMLQuantizationType(cursor.count("I"))
    block, size = GGML_QUANT_SIZES[kind]
    return Tensor(
        name=name,
        dimensions=dimensions,
        type=kind.name,
        bytes=prod(dimensions) // block * size,
        offset=cursor.count(),
    )
