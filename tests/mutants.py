"""Damage bytes at random, as transfers, editors and hostile authors do."""

import random
import re
from collections.abc import Callable, Iterator

_NUMBER = re.compile(rb"\d[\d.]*")
_NUMBERS = (
    b"-1", b"0", b"1.2.3", b"1e999", b"NaN", b"null", b"9" * 25, b"9" * 5000,
    b"18446744073709551616", b"9223372036854775807", b"0x1F", b"", b'"7"', b"[]", b"{}", b"true",
    b"0.0000001", b"1000000000000",
)  # fmt: skip
_WORDS = (
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\r",
    b"\n\n",
    b"[" * 2000,
    b'"',
    b"\\",
    b"%s",
    b"\x1b[31m",
)


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield `count` damaged copies; the same seed gives the same copies."""
    drawn = random.Random(seed)  # noqa: S311 - not a secret
    for _ in range(count):
        found = data
        for _ in range(drawn.choice((1, 1, 1, 2, 4))):
            found = drawn.choice(_CHANGES)(found, drawn)
        yield found


def _slice(data: bytes, drawn: random.Random) -> tuple[int, int]:
    start = drawn.randrange(len(data) + 1)
    return start, min(len(data), start + drawn.choice((1, 8, 60, len(data))))


def _flipped(data: bytes, drawn: random.Random) -> bytes:
    at = drawn.randrange(max(1, len(data)))
    return (
        data[:at]
        + bytes(each ^ 1 << drawn.randrange(8) for each in data[at : at + 1])
        + data[at + 1 :]
    )


def _overwritten(data: bytes, drawn: random.Random) -> bytes:
    """Put a number of eight bytes anywhere: a large one, a negative one, or 0."""
    at = drawn.randrange(len(data) + 1)
    number = drawn.choice(
        (0, 1, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)
    )
    return data[:at] + number.to_bytes(8, "little") + data[at + 8 :]


def _renumbered(data: bytes, drawn: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data[: 1 << 20]))
    if not found:
        return data
    match = drawn.choice(found)
    return data[: match.start()] + drawn.choice(_NUMBERS) + data[match.end() :]


def _without(data: bytes, drawn: random.Random) -> bytes:
    start, end = _slice(data, drawn)
    return data[:start] + data[end:]


def _repeated(data: bytes, drawn: random.Random) -> bytes:
    start, end = _slice(data, drawn)
    return data[:end] + data[start:end] * drawn.choice((1, 1, 30)) + data[end:]


def _inserted(data: bytes, drawn: random.Random) -> bytes:
    at = drawn.randrange(len(data) + 1)
    return data[:at] + drawn.choice(_WORDS) + data[at:]


def _moved(data: bytes, drawn: random.Random) -> bytes:
    start, end = _slice(data, drawn)
    rest = data[:start] + data[end:]
    at = drawn.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped, _overwritten, _renumbered, _without, _repeated, _inserted, _moved,
)  # fmt: skip
