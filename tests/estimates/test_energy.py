"""How many joules does a token take?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from estimates.ratios import energy_per_token_j
from estimates.summary import summarize
from tests.estimates.campaigns import campaign, trial

if TYPE_CHECKING:
    from schemas.submission import Trial


def measured(arm: str, energy_j: float | None, prompt: str = "code-1", block: int = 0) -> Trial:
    """A trial of eleven tokens: ten after the first."""
    return replace(trial(arm, prompt, block), energy_j=energy_j)


def test_energy_per_token_pools_the_trials() -> None:
    # 30 J + 50 J over 10 + 10 tokens.
    assert energy_per_token_j([measured("spec", 30.0), measured("spec", 50.0)]) == 4.0


@pytest.mark.parametrize("missing", [None, 0.0])
def test_energy_is_unknown_where_a_trial_was_not_measured(missing: float | None) -> None:
    assert energy_per_token_j([measured("spec", missing)]) is None


def test_an_estimate_has_the_joules_per_token_and_the_ratio_to_the_baseline() -> None:
    trials = [
        measured("baseline", 20.0, "code-1"),
        measured("spec", 10.0, "code-1"),
        measured("baseline", 20.0, "code-2"),
        measured("spec", 40.0, "code-2"),
    ]

    estimate = summarize(campaign(trials, prompts=("code-1", "code-2"))).estimates[0]

    # 1 J and 4 J per token, 2.5 on average, where the baseline takes 2 J for both.
    assert estimate.energy_per_token_j == pytest.approx(2.5)
    assert estimate.energy_ratio == pytest.approx(1.25)


def test_an_estimate_without_counters_has_no_energy() -> None:
    trials = [measured("baseline", None), measured("spec", 10.0)]

    estimate = summarize(campaign(trials, prompts=("code-1",))).estimates[0]

    assert estimate.energy_per_token_j == pytest.approx(1.0)
    assert estimate.energy_ratio is None
