"""The quick way accepts what the thorough way accepts, all canonical valid files, nothing else."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas import contract, strict, validator
from schemas.codec import canonical_bytes
from schemas.validator import SUBMISSION_SCHEMA, schema
from tests.leaves import leaves, with_value
from tests.schemas.test_validator import variants
from tools.examples import small, valid_files

ROOT = Path(__file__).parents[2]
INVALID = sorted((ROOT / "tests" / "data" / "invalid").glob("*.json"))
SAMPLES = sorted((ROOT / "results" / "community").glob("*.json"))


@pytest.mark.parametrize("name", sorted(valid_files()))
def test_a_valid_file_is_read_quickly_as_it_is_read_thoroughly(name: str) -> None:
    data = valid_files()[name]

    assert contract.read_quickly(data) == contract.read_thoroughly(data) != ()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_measured_file_is_read_quickly(path: Path) -> None:
    assert contract.read_quickly(path.read_bytes()) is not None


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_the_findings_on_a_broken_rule_come_from_the_thorough_way(path: Path) -> None:
    data = path.read_bytes()

    assert contract.read_quickly(data) is None
    assert contract.read(data) == contract.read_thoroughly(data) != ()


def test_both_validators_agree_on_every_changed_document() -> None:
    differing = [
        name
        for name, changed in variants()
        if validator.accepts(changed, SUBMISSION_SCHEMA)
        != validator.strict(SUBMISSION_SCHEMA).is_valid(changed)
    ]

    assert differing == []


def test_a_whole_number_with_a_point_is_no_integer() -> None:
    wholes = [path for path, value in leaves(small()) if type(value) is int]

    accepted = [
        path
        for path in wholes
        if contract.read_quickly(canonical_bytes(with_value(small(), path, 7.0))) is not None
    ]

    assert accepted == []
    assert len(wholes) > 50


def test_a_date_that_does_not_exist_is_not_accepted() -> None:
    data = canonical_bytes(small() | {"measured_until": "2026-02-30T00:00:00Z"})

    assert contract.read_quickly(data) is None


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
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":0e1'),
        SMALL.replace(b'"draft_ms":0.0', b'"draft_ms":-0.0'),
        SMALL.replace(b'"order":0', b'"order":-0'),
    ],
)
def test_other_bytes_are_left_to_the_thorough_way(data: bytes) -> None:
    assert data != SMALL
    assert contract.read_quickly(data) is None
    assert contract.read(data) == contract.read_thoroughly(data)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"[]\n", b"null\n", b"{}\n", b"{" * 5000, b"\xff", b"[" * 400_000]
)
def test_nonsense_is_not_accepted(data: bytes) -> None:
    assert contract.read_quickly(data) is None


def test_numbers_are_bounded_where_they_would_be_written_with_an_exponent() -> None:
    # orjson writes 1e16 with an exponent, which rounding to the canonical form does not look for.
    text = json.dumps(schema(SUBMISSION_SCHEMA))

    assert orjson.dumps(9e15) == b"9000000000000000.0"
    assert all(number["maximum"] < 1e16 for number in _numbers(json.loads(text)))


def test_the_schema_ends_before_the_greatest_depth() -> None:
    # The quick way leaves the depth to the schema.
    def depth(node: Any) -> int:  # noqa: ANN401 - any JSON value
        entries = (
            [*node.values()] if isinstance(node, dict) else node if isinstance(node, list) else []
        )
        return max((1 + depth(entry) for entry in entries), default=0)

    assert max(depth(json.loads(data)) for data in valid_files().values()) < strict.MAX_DEPTH // 2


def _numbers(node: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(node, list):
        return [found for entry in node for found in _numbers(entry)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "number" else []
    return [*own, *(found for entry in node.values() for found in _numbers(entry))]
