"""Losses are counted for pairs with a trait and for pairs without it."""

from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from pipeline.site.pages import strips
from pipeline.site.pages.what_moves_it import TRAITS, comparisons, is_slower


def pair(speedup: float, **others: object) -> Any:  # noqa: ANN401 - a row of any table
    usual = {
        "device_label": "RTX 3090 24 GB",
        "device_kind": "gpu",
        "target_label": "Qwen3-32B",
        "parameters": 32e9,
        "method": "mtp",
        "depths": [3],
        "lesser": False,
    }
    return SimpleNamespace(**usual | others, speedup=speedup)


@pytest.mark.parametrize(
    ("speedup", "slower"), [(0.5, True), (0.95, True), (0.96, False), (1.2, False)]
)
def test_a_pair_is_slower_beyond_five_percent(speedup: float, *, slower: bool) -> None:
    assert is_slower(pair(speedup)) is slower  # 1 / 1.05 is 0.952


def test_a_trait_is_listed_with_its_losses_and_those_of_the_others() -> None:
    texts = [pair(speedup, method="suffix") for speedup in (0.7, 0.8, 0.9, 1.0, 1.3)]
    heads = [pair(speedup) for speedup in (0.9, 1.1, 1.2, 1.3, 1.4, 1.5)]

    (found,) = comparisons([*texts, *heads])

    assert found.trait.startswith("Drafts from the text only")
    assert (found.slower, found.pairs) == (3, 5)
    assert (found.other_slower, found.other_pairs) == (1, 6)


def test_fewer_than_five_pairs_make_no_comparison() -> None:
    few = [pair(0.5, method="suffix") for _ in range(4)]

    assert comparisons([*few, *(pair(1.2) for _ in range(9))]) == []


def test_a_trait_that_loses_less_often_than_the_rest_is_not_listed() -> None:
    deep = [pair(1.5, depths=[16]) for _ in range(5)]

    assert comparisons([*deep, *(pair(0.8) for _ in range(5))]) == []


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (pair(1, method="ngram-mod"), "Drafts from the text only (n-grams, suffix)"),
        (
            pair(1, method="draft-model", target_label="Qwen3-30B-A3B"),
            "A second model drafts for a mixture of experts",
        ),
        (pair(1, method="draft-model"), "A second model drafts for a dense model"),
        (pair(1, device_label="Apple M1 Max"), "Apple M1 or M2"),
        (pair(1, parameters=4e9), "The target has fewer than 5B parameters"),
        (pair(1, depths=[8, 16]), "A depth of 8 or more"),
    ],
)
def test_a_pair_has_the_trait_that_its_facts_say(row: Any, name: str) -> None:  # noqa: ANN401 - a row
    assert [trait for trait, (_, has) in TRAITS.items() if has(row)] == [name]


def test_the_page_counts_each_pair_and_method_once(full: duckdb.DuckDBPyConnection) -> None:
    listed = [
        (row.device_label, row.target_label, row.method) for row in strips.rows_by_method(full)
    ]

    assert len(listed) == len(set(listed)) > 100
