"""Check the form of strings in a result: numbers, engine terms, versions, names of GPUs.

Strings from an engine, a driver or the environment are published, and any of them can contain a
key, a serial number or the name of a person or a host. A string is recorded only if it has the form
that its kind requires.
"""

import re

from schemas import private
from schemas.vocabulary import METHODS
from schemas.vocabulary.documents import document

_LISTS: dict[str, list[str]] = document("words")
_WORDS = frozenset(_LISTS["words"]).union(*(method.split("-") for method in METHODS))
VARIABLES = frozenset(_LISTS["variables"])
SERVERS = frozenset(_LISTS["servers"])
_LONGEST = 80
_NUMBER = r"[+-]?\d{1,10}(?:\.\d{1,10})?%?"
_RANGE = r"\d{1,4}-\d{1,4}"
_NUMBERS = re.compile(rf"(?:{_NUMBER}|{_RANGE})(?:,(?:{_NUMBER}|{_RANGE})){{0,31}}", re.ASCII)
_PART = re.compile(r"[._+,:=-]", re.ASCII)
_FEW_DIGITS = re.compile(r"\d{1,4}", re.ASCII)
_TAG = (
    r"(?:rc|alpha|beta|a|b|c|r|dev|pre|post|git|nightly|release|stable|main|master|dirty|unknown|cpu"
    r"|cu|cuda|rocm|xpu|tpu|hip|musa|metal|vulkan|precompiled)\d{0,8}"
)
_COMMIT = r"g?(?:[0-9a-f]{40}|[0-9a-f]{7,12})"
# Four numbers are an address if the first is at least 10: `10.1.2.3`; `0.9.0.1` is a version.
_VERSION = re.compile(
    r"(?![1-9]\d{1,2}(?:\.\d{1,3}){3}$)"
    rf"(?:[vb]?\d{{1,8}}(?:[.+_-]?{_TAG}|[.+_-](?:\d{{1,8}}|d\d{{8}}|{_COMMIT})){{0,9}}|{_COMMIT})",
    re.ASCII,
)
_DRIVER = re.compile(r"\d{1,4}(?:\.\d{1,5}){0,3}", re.ASCII)
# Words of a card's name begin with a capital or a digit, except these words.
_CARD_WORD = re.compile(
    r"[(\[]?(?:[A-Z0-9][A-Za-z0-9]{0,15}(?:[./+-][A-Z0-9][A-Za-z0-9]{0,15}){0,5}(?:_R\d)?|[a-z]{1,2}\d[A-Za-z0-9.-]{0,9}|gfx\w{3,6}"
    r"|with|and|for|bits|version|vGPU|nvgpu|llvmpipe)[)\],]{0,2}|[&/@-]",
    re.ASCII,
)
_SERIAL = re.compile(r"\d{7}")
# Names of machines, such as PC-42. A maker or a family may also precede a number: GT-1030.
_HOST = re.compile(r"([A-Za-z]+)-[A-Za-z0-9-]*\d[A-Za-z0-9-]*")
_NO_HOST = frozenset(document("spellings")["before_numbers"].split())


def is_number(text: str) -> bool:
    """Whether a string is a number, a range, or a comma-separated list of these."""
    return _NUMBERS.fullmatch(text) is not None


def is_word(text: str) -> bool:
    """Whether a string consists of words that engines use, such as `fp8_e4m3` or `CUDA0,CUDA1`."""
    first, *others = _PART.split(text.lower())
    return (
        len(text) <= _LONGEST
        and _is_known(first)
        and all(_is_known(each) or _FEW_DIGITS.fullmatch(each) for each in others)
    )


def _is_known(part: str) -> bool:
    bare = part.strip("0123456789")
    return part in _WORDS or (bare in _WORDS and len(part) - len(bare) <= 2)  # noqa: PLR2004 - cuda15


def version(text: str) -> str | None:
    """The version of an engine, such as `0.32.0+cpu`; `None` if the string has a different form."""
    return text if len(text) <= _LONGEST and _VERSION.fullmatch(text) else None


def driver(text: str | None) -> str | None:
    """The version of a driver; `None` if the string has a different form."""
    usual = text is not None and _DRIVER.fullmatch(text) and not private.personal(text)
    return text if usual else None


def card(text: str) -> str | None:
    """The name of a card; `None` if the string has a different form."""
    words = text.split()
    hosts = (found[1].lower() for word in words if (found := _HOST.fullmatch(word)))
    usual = all(map(_CARD_WORD.fullmatch, words)) and _NO_HOST.issuperset(hosts)
    usual = usual and not _SERIAL.search(text)
    return text if usual and not private.found(text) else None
