"""The strict loader quickly refuses text that two readers could read differently."""

import json
import time

import pytest

from schemas import contract, strict
from schemas.finding import Finding
from tests.cases.json_cases import ACCEPTED, POLICY, REFUSED

KIB = 1024
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


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_it_reads_json(data: bytes) -> None:
    assert strict.load(data) == json.loads(data)


@pytest.mark.parametrize("data", REFUSED.values(), ids=map(ascii, REFUSED))
def test_the_importer_refuses_text_that_is_not_json_in_one_line(data: bytes) -> None:
    found = contract.findings(data)

    assert [finding.rule for finding in found] in (["json"], ["encoding"])
    assert found[0].line().isascii()
    assert found[0].line().isprintable()


@pytest.mark.parametrize(("data", "rule"), POLICY.values(), ids=POLICY)
def test_it_refuses_by_policy(data: bytes, rule: str) -> None:
    assert {finding.rule for finding in contract.findings(data)} == {rule}


@pytest.mark.parametrize(
    "data", [*REFUSED.values(), *(data for data, _ in POLICY.values()), *TAKES_LONG.values()]
)
def test_it_answers_at_once(data: bytes) -> None:
    # Processor time, the better of two runs, so that other programs hardly matter. It is usually
    # below 0.1 s; something quadratic would take minutes.
    assert min(_processor_seconds(data) for _ in range(2)) < 1.0


def _processor_seconds(data: bytes) -> float:
    began = time.process_time()
    strict.load(data)
    return time.process_time() - began


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
