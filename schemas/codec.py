"""Convert JSON to typed values and back, and write the canonical bytes and names of files.

An absent value is `None`, and `None` is omitted. In canonical form, keys are sorted, there are no
spaces, floats have their shortest form rounded to six decimals, and the file ends with one newline.
Equal content therefore gives equal files.
"""

import hashlib
import re
import struct
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar, cast

import msgspec
import orjson

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
T = TypeVar("T")
# What msgspec raises for foreign bytes: wrong JSON, letters that are not UTF-8, deep nesting.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode(cls: type[T], document: Json) -> T:
    """Build `cls` from JSON values. Raises `msgspec.ValidationError`, which names the place.

    The conversion is strict: 1.0 is not an integer and "1" is not a number, but an integer is
    accepted as a float.
    """
    return msgspec.convert(document, cls)


def encode(value: object) -> Json:
    """Turn a typed value into JSON values. Raises `TypeError` if JSON has no such type."""
    return cast("Json", _without_none(msgspec.to_builtins(value)))


def _without_none(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value


# Emoji and some scripts need these invisible characters; notes may contain them, names may not.
JOINERS = dict.fromkeys((0x200C, 0x200D))
FLOAT_DECIMALS = 6
FILE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{2,100}\.json")
MOST_FLAT = 1000  # results in one folder
_DATED = re.compile(r".*--(20[0-9]{2})(0[1-9]|1[0-2])[0-9]{2}-[0-9a-f]{8}\.json")
_SLUG_LENGTH = 32
# Floats that rounding may change: more than six decimals, a negative exponent, minus zero.
_UNROUNDED = [
    re.compile(odd).search for odd in (rb"\.[0-9]{7}", rb"e-[0-9]++[],}\n]", rb"-0\.0[],}\n]")
]
# A plus at the end of a word is part of the name: Command R+ differs from Command R.
_PLUS = re.compile(r"(?<=[A-Za-z0-9])\+(?![A-Za-z0-9])")
# Unicode's categories of letters, marks, numbers and symbols, and symbols that distinguish no
# names.
_MEANINGFUL, _TYPOGRAPHY = "LMNS", "©®™\N{MULTIPLICATION SIGN}"


def canonical_bytes(document: Json) -> bytes:
    """The bytes of a document in canonical form (UTF-8, trailing newline)."""
    data = _sorted(document)
    return _sorted(rounded(document)) if any(odd(data) for odd in _UNROUNDED) else data


def content_digest(data: bytes) -> str:
    """The first eight hex digits of the SHA-256 of the canonical bytes."""
    return hashlib.sha256(data).hexdigest()[:8]


def file_name(*, machine: str, target: str, measured_from: str, data: bytes) -> str:
    """The canonical file name `<machine>--<target>--<yyyymmdd>-<8 hex of content>.json`."""
    day = measured_from[:10].replace("-", "")
    return f"{slug(machine)}--{slug(target)}--{day}-{content_digest(data)}.json"


def folder_of(name: str, flat: int) -> str:
    """The subfolder for a new result when the top folder of results has `flat` files.

    The first `MOST_FLAT` results are all in the top folder; later results are in monthly folders.
    """
    return (dated_folder(name) or "") if flat >= MOST_FLAT else ""


def dated_folder(name: str) -> str | None:
    """The folder `YEAR/MONTH` for a file name in a large collection; `None` if it has no date."""
    found = _DATED.fullmatch(name)
    return found and f"{found[1]}/{found[2]}"


@lru_cache(maxsize=4096)  # a corpus repeats few names in many files
def slug(text: str, *, limit: int | None = _SLUG_LENGTH) -> str:
    """A name for use in addresses: lower-case ASCII letters, digits, single hyphens; never empty.

    If ASCII cannot represent every letter, digit or symbol, eight digits of the text's MD5 are
    added, so that names in any script remain distinct. `limit` is the maximum number of characters.
    """
    times = text.replace("\N{MULTIPLICATION SIGN}", "x")  # as in the SQL of published names
    spelled = _PLUS.sub("-plus", unicodedata.normalize("NFD", times))
    plain = "".join(c for c in spelled if not unicodedata.combining(c))
    words = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    # An address that lacks such a character could belong to another name.
    lost = (c for c in text if unicodedata.category(c)[0] in _MEANINGFUL and c not in _TYPOGRAPHY)
    if words and all(map(str.isascii, lost)):
        return words[:limit].strip("-")
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8]
    room = None if limit is None else limit - len(digest) - 1
    return f"{words[:room].strip('-') or 'unnamed'}-{digest}"


def _sorted(document: Json) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def rounded(value: Json, decimals: int = FLOAT_DECIMALS) -> Json:
    """The value with every float in it rounded."""
    if isinstance(value, float):
        return round(value, decimals) + 0.0  # turns -0.0 into 0.0
    if isinstance(value, list):
        return [rounded(item, decimals) for item in value]
    if isinstance(value, dict):
        return {key: rounded(item, decimals) for key, item in value.items()}
    return value


def text_digest(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of a text encoded as UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def token_digest(tokens: Sequence[int]) -> str:
    """The first 16 hex digits of the SHA-256 of token ids as little-endian 32-bit integers."""
    return hashlib.sha256(struct.pack(f"<{len(tokens)}i", *tokens)).hexdigest()[:16]
