"""*How it works* uses the textbook formulas, with a cost of verification, and lists every flag."""

from pathlib import Path

import pytest

from pipeline.site.pages.how_it_works import (
    WhatIfInputs,
    round_cost,
    speedup,
    tokens_per_round,
    with_flags,
)
from schemas.vocabulary.flags import FLAGS

PAGE = (Path(__file__).parents[2] / "site_src" / "methodology.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("acceptance", "depth", "expected"),
    [
        (0.0, 4, 1.0),
        (1.0, 4, 5.0),
        (0.5, 2, 1.75),  # 1 + 0.5 + 0.25
        (0.8, 4, 3.3616),  # 1 + 0.8 + 0.64 + 0.512 + 0.4096
    ],
)
def test_a_round_yields_its_accepted_tokens_and_one_more(
    acceptance: float, depth: int, expected: float
) -> None:
    assert tokens_per_round(acceptance, depth) == pytest.approx(expected)


def test_a_round_costs_its_drafts_and_a_wide_step() -> None:
    # 4 drafts at 0.1, one step that is 1 + 4 * 0.05 wide.
    assert round_cost(4, 0.1, 0.05) == pytest.approx(1.6)


def test_no_acceptance_wins_if_a_further_token_costs_more_than_it_can_save() -> None:
    perfect = WhatIfInputs(acceptance=1.0, depth=4, draft_cost=0.5, verify_cost=0.6)

    assert [speedup(perfect, depth) < 1 for depth in (1, 4, 16)] == [True, True, True]
    assert speedup(perfect, 0) == 1.0


@pytest.mark.parametrize("name", FLAGS)
def test_the_methodology_page_lists_every_flag(name: str) -> None:
    assert f"| `{name}` | {FLAGS[name].severity} | " in with_flags(PAGE)


def test_a_row_names_the_bounds_of_the_flag() -> None:
    assert "above 10 %." in next(
        line for line in with_flags(PAGE).splitlines() if line.startswith("| `block-spread`")
    )


def test_a_page_without_a_place_for_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="table of flags"):
        with_flags("# Methodology\n")
