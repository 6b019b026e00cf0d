"""Does a result that was corrupted in a known way show the matching flag, and little else?

A campaign of the default size on a quiet made-up rig, through the harness's own plan and record.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench.designs import interleaved
from bench.population import campaign, population
from bench.rigs import drift, heavy_tails, quiet
from estimates.summary import summarize
from harness.runners.fake import FakeSession
from tests.sample_trials import slowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.submission import Submission, Trial


KNOWN = population()
PROMPTS = KNOWN.draw(random.Random(5))  # noqa: S311 - a simulation
STALLED = PROMPTS[4].id
CLEAN = replace(
    interleaved(KNOWN.rig, quiet, PROMPTS, 5),
    probes=FakeSession(KNOWN.rig, campaign(PROMPTS, seed=5)).probe(),
)
SWAPPED = {"baseline": "draft", "draft": "baseline"}


def flagged(submission: Submission) -> dict[str, tuple[str | None, str | None]]:
    """Arm and prompt by the name of the flag."""
    return {flag.name: (flag.arm, flag.prompt) for flag in summarize(submission).flags}


def corrupted(change: Callable[[Trial], Trial]) -> Submission:
    return replace(CLEAN, trials=tuple(change(each) for each in CLEAN.trials))


def test_a_clean_campaign_shows_nothing() -> None:
    assert flagged(CLEAN) == {}


def test_a_baseline_prompt_that_is_slow_in_every_block_is_an_uneven_baseline() -> None:
    slow = slowed(
        CLEAN, lambda each: 1.6 if (each.arm, each.prompt) == ("baseline", STALLED) else 1.0
    )

    # Round costs follow from it and are not named again.
    assert flagged(slow) == {"uneven-baseline": (None, STALLED)}


def test_a_drift_of_30_percent_is_a_drift() -> None:
    assert flagged(interleaved(KNOWN.rig, drift, PROMPTS, 5)) == {"drift": (None, None)}


def test_stalled_rounds_are_noted_as_cautions() -> None:
    flags = summarize(interleaved(KNOWN.rig, heavy_tails, PROMPTS, 5)).flags

    assert {flag.name for flag in flags} >= {"clocks-disagree", "stalls"}
    assert "serious" not in {flag.severity for flag in flags}


def test_swapped_arms_are_seen_in_counters_controls_and_probes() -> None:
    swapped = corrupted(lambda each: replace(each, arm=SWAPPED.get(each.arm, each.arm)))

    assert flagged(swapped).keys() >= {
        "never-drafted",
        "control-excludes-one",
        "probe-disagrees",
        "prediction-missed",
    }


def test_arms_swapped_in_one_block_are_seen_too() -> None:
    swapped = corrupted(
        lambda each: replace(each, arm=SWAPPED.get(each.arm, each.arm)) if each.block == 1 else each
    )

    # The interval that the repetitions widened contains what the probes predict.
    assert flagged(swapped).keys() == {"order-not-planned", "block-spread", "block-outlier"}


def test_a_control_that_ran_otherwise_than_the_baseline_is_told_apart() -> None:
    # The same arm again, 5 % slower throughout: 1 / 1.05 = 0.952.
    slow = slowed(CLEAN, lambda each: 1.05 if each.arm == "control" else 1.0)

    (control,) = summarize(slow).controls
    assert control.ratio == pytest.approx(1 / 1.05, abs=0.002)
    assert control.interval is not None
    assert control.interval.high < 1
    assert flagged(slow).keys() == {"control-excludes-one"}
