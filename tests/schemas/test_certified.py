"""Does the quick yes say yes only where the authority does, and to all canonical valid files?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest

from schemas import certified, columns, contract, strict
from schemas.canonical import canonical_bytes
from schemas.contract import SUBMISSION_SCHEMA, schema
from tests.data.make_invalid import small, valid_files
from tests.leaves import leaves, with_value
from tests.schemas.test_compiled import QUICK, variants

ROOT = Path(__file__).parents[2]
INVALID = sorted((ROOT / "tests" / "data" / "invalid").glob("*.json"))
SAMPLES = sorted((ROOT / "results" / "community").glob("*.json"))
BY_COLUMN = columns.checker(schema(SUBMISSION_SCHEMA))
IN_RUST = jsonschema_rs.Draft202012Validator(schema(SUBMISSION_SCHEMA))


@pytest.mark.parametrize("name", sorted(valid_files()))
def test_a_valid_file_is_certified_with_its_document(name: str) -> None:
    data = valid_files()[name]

    assert certified.document(data) == json.loads(data)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_measured_file_is_certified(path: Path) -> None:
    assert certified.findings(path.read_bytes()) == ()
    assert certified.document(path.read_bytes()) is not None


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_a_broken_rule_is_told_as_the_contract_tells_it(path: Path) -> None:
    data = path.read_bytes()

    assert certified.document(data) is None
    assert certified.findings(data) == contract.findings(data) != ()


def test_three_validators_agree_on_every_changed_document() -> None:
    differing = [
        name
        for name, changed in variants()
        if not (BY_COLUMN([changed]) == QUICK.is_valid(changed) == IN_RUST.is_valid(changed))
    ]

    assert differing == []


def test_a_whole_number_with_a_point_is_no_integer() -> None:
    wholes = [path for path, value in leaves(small()) if type(value) is int]

    accepted = [path for path in wholes if BY_COLUMN([with_value(small(), path, 7.0)])]

    assert accepted == []
    assert len(wholes) > 50


def test_a_date_that_does_not_exist_is_not_certified() -> None:
    assert (
        certified.document(canonical_bytes(small() | {"measured_until": "2026-02-30T00:00:00Z"}))
        is None
    )


SMALL = canonical_bytes(small())


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(small(), sort_keys=True, indent=1).encode(),
        SMALL[:-1],
        SMALL + b"\n",
        SMALL.replace(b'"backend"', b'"\\u0062ackend"'),
        SMALL.replace(b'"licence"', b'"licence":"CC-BY-4.0","licence"'),
        SMALL.replace(b"NVIDIA", b"NVIDI\xc3\xa4"),
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":0.00'),
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":0.00000001'),
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":0e1'),
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":-0.0'),
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":1e-7'),
        SMALL.replace(b'"order":0', b'"order":-0'),
    ],
)
def test_other_bytes_are_left_to_the_contract(data: bytes) -> None:
    assert data != SMALL
    assert certified.document(data) is None
    assert certified.findings(data) == contract.findings(data)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"[]\n", b"null\n", b"{}\n", b"{" * 5000, b"\xff", b"[" * 400_000]
)
def test_nonsense_is_not_certified(data: bytes) -> None:
    assert certified.document(data) is None


def test_numbers_are_bounded_where_they_would_be_written_with_an_exponent() -> None:
    # The certificate looks for exponents below zero only. orjson writes 1e16 with one above zero.
    text = json.dumps(schema(SUBMISSION_SCHEMA))

    assert orjson.dumps(9e15) == b"9000000000000000.0"
    assert all(number["maximum"] < 1e16 for number in _numbers(json.loads(text)))


def test_the_schema_ends_before_the_greatest_depth() -> None:
    # The certificate leaves the depth to the schema.
    def depth(node: Any) -> int:  # noqa: ANN401 - any JSON value
        entries = (
            [*node.values()] if isinstance(node, dict) else node if isinstance(node, list) else []
        )
        return max((1 + depth(entry) for entry in entries), default=0)

    assert max(depth(json.loads(data)) for data in valid_files().values()) < strict.MAX_DEPTH // 2


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "string", "not": {"const": "x"}},
        {"pattern": "^a$"},
        {"minimum": 3},
        {"type": "object", "allOf": [{"if": {"type": "object"}, "then": {"type": "object"}}]},
        {"if": {"required": ["a"], "properties": {"a": {"const": 1}}}},
    ],
)
def test_a_keyword_that_is_not_understood_is_never_ignored(odd: dict[str, Any]) -> None:
    with pytest.raises(columns.UnknownKeywordError):
        columns.checker(odd)


def _numbers(node: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(node, list):
        return [found for entry in node for found in _numbers(entry)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "number" else []
    return [*own, *(found for entry in node.values() for found in _numbers(entry))]
