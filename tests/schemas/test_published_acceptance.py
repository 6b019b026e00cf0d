"""The acceptance curves of InferenceX are whole, and no length exceeds what a depth allows."""

import json
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "results" / "published" / "inferencex-acceptance.json"
ROWS = json.loads(FILE.read_bytes())["rows"]
LENGTHS = {row["id"]: row["figures"][0]["value"] for row in ROWS}


def test_fourteen_curves_have_a_length_for_each_depth_from_1_to_8() -> None:
    curves = Counter(row["id"].rpartition("-")[0] for row in ROWS)
    depths = {row["id"]: row["n_max"] for row in ROWS}

    assert len(curves) == 14
    assert set(curves.values()) == {8}
    assert set(depths.values()) == set(range(1, 9))


def test_a_round_gives_at_least_its_own_token_and_at_most_one_more_than_its_depth() -> None:
    assert all(1 <= LENGTHS[row["id"]] <= row["n_max"] + 1 for row in ROWS)


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("qwen3-5-397b-a17b-thinking-n8", 5.21),
        ("qwen3-5-397b-a17b-direct-n8", 4.71),
        ("deepseek-v4-pro-thinking-n2", 2.27),
        ("kimi-k2-5-direct-n5", 3.25),
        ("minimax-m3-gqa-thinking-n1", 1.79),
        ("kimi-k3-block-thinking-n8", 4.00),
    ],
)
def test_a_length_is_that_of_the_source(name: str, length: float) -> None:
    assert LENGTHS[name] == length
