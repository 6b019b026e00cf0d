"""A whole number is written without a decimal point, and no number needs an exponent."""

import json
from typing import Any

import orjson

from schemas import contract
from schemas.codec import canonical_bytes
from schemas.validator import SUBMISSION_SCHEMA, schema
from tests.leaves import leaves, with_value
from tools.examples import small


def test_a_whole_number_with_a_decimal_point_is_not_an_integer() -> None:
    wholes = [path for path, value in leaves(small()) if type(value) is int]

    accepted = [
        path
        for path in wholes
        if contract.findings(canonical_bytes(with_value(small(), path, 7.0))) == ()
    ]

    assert accepted == []
    assert len(wholes) > 50


def test_number_bounds_exclude_values_written_with_an_exponent() -> None:
    # orjson writes 1e16 with an exponent, which rounding to the canonical form does not look for.
    text = json.dumps(schema(SUBMISSION_SCHEMA))

    assert orjson.dumps(9e15) == b"9000000000000000.0"
    assert all(number["maximum"] < 1e16 for number in _numbers(json.loads(text)))


def _numbers(node: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(node, list):
        return [found for entry in node for found in _numbers(entry)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "number" else []
    return [*own, *(found for entry in node.values() for found in _numbers(entry))]
