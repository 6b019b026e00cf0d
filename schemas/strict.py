"""Load JSON that every parser reads in the same way, or return its faults.

Size, depth, encoding, grammar, duplicate keys, numbers and characters are checked before the
content. `jsonschema` accepts NaN under `exclusiveMinimum: 0`, so it cannot make these checks.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import NoReturn

import orjson

from schemas.codec import JOINERS, Json
from schemas.finding import ROOT, Finding, bounded, child_path, shown

MAX_BYTES = 512 * 1024
MAX_DEPTH = 12
MAX_DIGITS = 18  # an integer that fits into 64 bits with its sign

# A string, or the rest of the text after an unpaired quote. It is possessive, so that its time is
# linear for any input.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
# Parsers may differ on a negative zero, on an exponent and on more digits than a float has.
_UNUSUAL_NUMBER = re.compile(rb"-0|[0-9][eE]|[0-9]{%d}" % (MAX_DIGITS + 1))
_BRACKETS = bytes.maketrans(b"[{]}", b"(())")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))
# A digit other than zero before the exponent: the number is not zero.
_SIGNIFICANT = re.compile(r"^[^eE]*[1-9]")
_BOM = b"\xef\xbb\xbf"
_REFUSED_CATEGORIES = {
    "Cc": "a control character",
    "Cf": "an invisible format character",
    "Cs": "a lone surrogate",
    "Co": "a private-use character",
    "Cn": "an unassigned character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
# Default_Ignorable_Code_Point of the Unicode Character Database without categories Cf and Cn, plus
# the blank pattern of Braille.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NOTES = "$.notes"


class _RefusedError(ValueError):
    """An error that carries a finding out of the parser's hooks."""


def load(data: bytes) -> Json | tuple[Finding, ...]:
    """The document, or the findings on it. Never raises."""
    try:
        bare = _checked_bytes(data)
        document: Json = orjson.loads(data)
        if _UNUSUAL_NUMBER.search(bare) or bare.count(b":") != _keys(document):
            json.loads(
                data,
                object_pairs_hook=_object,
                parse_int=_integer,
                parse_float=_number,
                parse_constant=_number,
            )
    except orjson.JSONDecodeError as error:
        message = f"not JSON: {error}; let the harness write the file"
        return (Finding(path=ROOT, message=message, rule="json"),)
    except _RefusedError as error:
        return error.args
    # JSON bans raw control characters, so these bytes have only printable ASCII in strings.
    if data.isascii() and b"\\" not in data and b"\x7f" not in data:
        return document
    return bounded(_text_findings(ROOT, document)) or document


def _checked_bytes(data: bytes) -> bytes:
    """The bytes without strings; refuses bytes that must not reach a parser."""
    if data.startswith(b"GGUF"):
        _refuse(
            "json", "this is a model, not a result file; give the NAME.json file that a run wrote"
        )
    if len(data) > MAX_BYTES:
        _refuse(
            "size",
            f"the file has more than {MAX_BYTES} bytes: it is not a result, or has too many "
            "prompts, arms or blocks",
        )
    if not data.strip():
        _refuse("json", "the file is empty; make the harness write it again")
    if data.startswith(_BOM):
        _refuse(
            "encoding", "starts with a byte-order mark; save the file as UTF-8 without this mark"
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"not UTF-8 at byte {error.start}"
        _refuse("encoding", f"{place}; use the file as the harness wrote it")
    bare = _STRING.sub(b"", data)
    if _is_too_deep(bare):
        _refuse("depth", f"nested deeper than {MAX_DEPTH} levels")
    return bare


def _is_too_deep(bare: bytes) -> bool:
    """Whether nesting is too deep, counted in the bytes so that no parser recurses too far."""
    rest = brackets = bare.translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        rest = rest.replace(b"()", b"")  # the innermost level
    # Brackets are left if the nesting is deeper or if some are unpaired.
    steps = (1 if each == b"("[0] else -1 for each in brackets if rest)
    return any(depth > MAX_DEPTH for depth in accumulate(steps))


def _keys(document: Json) -> int:
    """The number of keys in all objects; the text has more colons if an object repeats a key."""
    count, rest = 0, [document]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            count += len(value)
            rest += value.values()
        elif isinstance(value, list):
            rest += value
    return count


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        _refuse("duplicate-key", f"the key {shown(twice)} occurs twice in one object; keep one")
    return keys


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        _refuse(
            "number", f"an integer with {len(digits)} digits; at most {MAX_DIGITS} are accepted"
        )
    if digits == "-0":
        _refuse("number", "-0 is not accepted; write 0")
    return int(digits)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse("number", f"{text[:20]} is not a finite number; leave out a value that is unknown")
    if number == 0 and text.startswith("-"):
        _refuse("number", f"{text[:20]} is not accepted; write 0")
    if number == 0 and _SIGNIFICANT.search(text):
        _refuse("number", f"{text[:20]} is too close to zero; write 0 if you mean zero")
    return number


def _text_findings(path: str, value: Json) -> Iterator[Finding]:
    if isinstance(value, str):
        yield from _string_findings(path, value)
    elif isinstance(value, list | dict):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str):
                yield from _string_findings(path, key)
            yield from _text_findings(child_path(path, key), item)


def _string_findings(path: str, text: str) -> Iterator[Finding]:
    if text.isascii() and text.isprintable():
        return
    for character in text.translate(JOINERS) if path == _NOTES else text:
        kind = refused(character, in_notes=path == _NOTES)
        if kind is not None:
            message = f"contains {kind} (U+{ord(character):04X}); remove it"
            yield Finding(path=path, message=message, rule="characters")
            return
    if not unicodedata.is_normalized("NFC", text):
        message = "is not in Unicode normal form C; type the text again, or normalise the text"
        yield Finding(path=path, message=message, rule="characters")


def refused(character: str, *, in_notes: bool = False) -> str | None:
    """The kind of a refused character, or `None` for an allowed one; notes may contain more."""
    category = unicodedata.category(character)
    kind = _REFUSED_CATEGORIES.get(category)
    if kind or in_notes:
        return kind
    if _INVISIBLE.match(character):
        return "an invisible character"
    return "a blank other than a space" if category == "Zs" and character != " " else None


def _refuse(rule: str, message: str) -> NoReturn:
    raise _RefusedError(Finding(path=ROOT, message=message, rule=rule))
