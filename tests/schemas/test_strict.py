"""Does the strict loader refuse everything that two readers could read in two ways, in time?"""

import sys
import time

import pytest

from schemas import strict
from schemas.finding import Finding

KIB = 1024
REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "json"),
    "white space only": (b" \n\t", "json"),
    "NaN": (b'{"a": NaN}', "json"),
    "Infinity": (b'{"a": Infinity}', "json"),
    "minus Infinity": (b'{"a": -Infinity}', "json"),
    "a float beyond the largest": (b'{"a": 1e999}', "json"),
    "a float below the smallest": (b'{"a": 1e-999}', "number"),
    "minus zero": (b'{"a": -0}', "number"),
    "minus zero as a float": (b'{"a": -0.0}', "number"),
    "an integer of 19 digits": (b'{"a": 1234567890123456789}', "number"),
    "an integer beyond 64 bits": (b'{"a": 123456789012345678901234567890}', "number"),
    "a hexadecimal number": (b'{"a": 0x10}', "json"),
    "a leading zero": (b'{"a": 012}', "json"),
    "a leading plus": (b'{"a": +1}', "json"),
    "a bare fraction": (b'{"a": .5}', "json"),
    "a key twice": (b'{"a": 1, "a": 1}', "duplicate-key"),
    "a key twice, deep inside": (b'{"a": [{"b": {"c": 1, "d": 2, "c": 3}}]}', "duplicate-key"),
    "a key twice by an escape": (rb'{"a": 1, "\u0061": 2}', "duplicate-key"),
    "a byte-order mark": (b'\xef\xbb\xbf{"a": 1}', "encoding"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "encoding"),
    "UTF-16 without a mark": ('{"a": 1}'.encode("utf-16-le"), "json"),
    "UTF-32": ('{"a": 1}'.encode("utf-32-le"), "json"),
    "a stray continuation byte": (b'{"a": "\x80"}', "encoding"),
    "an overlong encoding": (b'{"a": "\xc0\xaf"}', "encoding"),
    "an encoded surrogate": (b'{"a": "\xed\xa0\x80"}', "encoding"),
    "a lone surrogate escape": (rb'{"a": "\ud800"}', "json"),
    "a lone low surrogate escape": (rb'{"a": "\udc00x"}', "json"),
    "a raw control character": (b'{"a": "x\x01y"}', "json"),
    "a raw newline in a string": (b'{"a": "x\ny"}', "json"),
    "an escaped newline": (rb'{"a": "x\ny"}', "characters"),
    "an escaped null": (rb'{"a": "\u0000"}', "characters"),
    "a raw delete character": (b'{"a": "\x7f"}', "characters"),
    "an escape character of a terminal": (rb'{"a": "\u001b[31m"}', "characters"),
    "a right-to-left override": ('{"a": "x\u202ey"}'.encode(), "characters"),
    "a zero-width space": ('{"a": "x\u200by"}'.encode(), "characters"),
    "a zero-width joiner in a key": ('{"a\u200d": 1}'.encode(), "characters"),
    "a byte-order mark inside": ('{"a": "\ufeff"}'.encode(), "characters"),
    "a line separator": ('{"a": "\u2028"}'.encode(), "characters"),
    "a private-use character": ('{"a": "\ue000"}'.encode(), "characters"),
    "an unassigned character": ('{"a": "\u0378"}'.encode(), "characters"),
    "a noncharacter": ('{"a": "\uffff"}'.encode(), "characters"),
    "a decomposed letter": ('{"a": "e\u0301"}'.encode(), "characters"),
    "a compatibility ideograph": ('{"a": "\uf900"}'.encode(), "characters"),
    "a trailing comma": (b'{"a": 1,}', "json"),
    "a trailing comma in a list": (b"[1,]", "json"),
    "something after the end": (b'{"a": 1} x', "json"),
    "two documents": (b"{}{}", "json"),
    "a comment": (b'{"a": 1 /* one */}', "json"),
    "single quotes": (b"{'a': 1}", "json"),
    "an unterminated string": (b'{"a": "x', "json"),
    "an unterminated object": (b'{"a": 1', "json"),
    "a closing bracket too many": (b"{}}", "json"),
    "brackets that do not pair": (b'{"a": [1}', "json"),
    "13 levels": (b"[" * 13 + b"]" * 13, "depth"),
    "100000 open lists": (b"[" * 100_000, "depth"),
    "100000 open objects": (b'{"a":' * 100_000, "depth"),
    "100000 closed lists": (b"[" * 100_000 + b"]" * 100_000, "depth"),
    "too many bytes": (b'"' + b"x" * 512 * KIB + b'"', "size"),
    "too many spaces": (b"{}" + b" " * 512 * KIB, "size"),
}
TAKES_LONG: dict[str, bytes] = {
    "spaces": b" " * 511 * KIB,
    "quotes": b'"' * 511 * KIB,
    "escapes": b'"\\' * 255 * KIB,
    "backslashes": b'"' + b"\\" * 511 * KIB,
    "digits": b"1" * 511 * KIB,
    "exponents": b"1e" + b"9" * 511 * KIB,
    "fractions": b"0." + b"0" * 511 * KIB + b"1",
    "keys": b"{" + b",".join(b'"%d":1' % n for n in range(40_000)) + b',"39999":2}',
    "accents": ('"' + "\u0301" * 250_000 + '"').encode(),
    "many strings with one flaw each": b"[" + b",".join([rb'"\u202e"'] * 50_000) + b"]",
}


@pytest.mark.parametrize(("data", "rule"), REFUSED.values(), ids=REFUSED)
def test_it_refuses(data: bytes, rule: str) -> None:
    found = strict.load(data)

    assert isinstance(found, tuple), f"accepted as {found!r:.80}"
    assert {finding.rule for finding in found} == {rule}


@pytest.mark.parametrize("data", [*(data for data, _ in REFUSED.values()), *TAKES_LONG.values()])
def test_it_answers_at_once(data: bytes) -> None:
    # Processor time, and the better of two: a neighbour's load says nothing about the loader.
    # Measuring coverage slows every line down; something quadratic would still take minutes.
    limit_s = 0.2 if sys.gettrace() is None else 1.0

    spent_s = min(_processor_seconds(data) for _ in range(2))

    assert spent_s < limit_s


def _processor_seconds(data: bytes) -> float:
    began = time.process_time()
    strict.load(data)
    return time.process_time() - began


@pytest.mark.parametrize(
    ("data", "document"),
    [
        (b'{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b"[" * 12 + b"]" * 12, [[[[[[[[[[[[]]]]]]]]]]]]),
        (b'{"a": "' + b"[" * 1000 + b'"}', {"a": "[" * 1000}),
        (rb'{"a": "\"[[[[[[[[[[[[[[[\\"}', {"a": '"[[[[[[[[[[[[[[[\\'}),
        (b"123456789012345678", 123456789012345678),
        (b"-123456789012345678", -123456789012345678),
        (b"[0, 0.0, 0e9, 1e-300]", [0, 0.0, 0.0, 1e-300]),
        ('{"a": "\u00e9 \u6f22 \U0001f600"}'.encode(), {"a": "\u00e9 \u6f22 \U0001f600"}),
        (rb'{"a": "\u00e9 \ud83d\ude00"}', {"a": "\u00e9 \U0001f600"}),
        (b"null", None),
    ],
)
def test_it_reads_what_is_well_formed(data: bytes, document: object) -> None:
    assert strict.load(data) == document


def test_a_finding_names_the_place_of_a_bad_character() -> None:
    (found,) = strict.load('{"arms": [{"id": "x"}, {"id": "\u202e"}]}'.encode())  # type: ignore[misc, str-unpack]  # a tuple of findings

    message = "contains an invisible format character (U+202E); remove it"
    assert found == Finding(path="$.arms[1].id", message=message, rule="characters")


def test_a_hostile_key_cannot_break_the_line_that_reports_it() -> None:
    found = strict.load(b'{"a\\nfile: $: all is well [ok]\\u001b[2J": {"b": "\\u0007"}}')

    assert isinstance(found, tuple)
    assert all(finding.line().isprintable() for finding in found)
    assert all(finding.line().isascii() for finding in found)


def test_every_bad_string_is_reported() -> None:
    found = strict.load(b'["\\u0001", "ok", "\\u0002", {"k": "\\u0003"}]')

    assert isinstance(found, tuple)
    assert [finding.path for finding in found] == ["$[0]", "$[2]", "$[3].k"]
