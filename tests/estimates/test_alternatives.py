"""Speculation is compared with another use of its memory, if that was measured."""

from dataclasses import replace

import pytest

from estimates.model import Estimate
from estimates.summary import summarize
from schemas.method import NO_SPECULATION
from schemas.submission import Arm, Trial
from tests.estimates.campaigns import BASELINE, SPEC, campaign, trial

ALONE = Arm(id="alone", role="alternative", method=NO_SPECULATION, baseline="baseline")
PROMPTS = ("code-1", "code-2")


def trials(alone_ms: float) -> list[Trial]:
    times_ms = {"baseline": 100.0, "spec": 50.0, "alone": alone_ms}
    return [trial(arm, prompt, decode_ms=ms) for arm, ms in times_ms.items() for prompt in PROMPTS]


def estimates(alone: Arm = ALONE, alone_ms: float = 25.0) -> dict[tuple[str, str | None], Estimate]:
    submission = campaign(trials(alone_ms), prompts=PROMPTS, arms=(BASELINE, SPEC, alone))
    return {(each.arm, each.task): each for each in summarize(submission).estimates}


def test_an_arm_twice_as_fast_as_its_baseline_may_be_half_as_fast_as_the_target_alone() -> None:
    estimate = estimates()["spec", "code"]

    assert estimate.speedup == pytest.approx(2.0)
    assert estimate.alternative == "alone"
    assert estimate.over_alternative == pytest.approx(0.5)
    assert estimate.over_alternative_interval is not None


def test_the_alternative_itself_is_compared_with_the_baseline_only() -> None:
    estimate = estimates()["alone", "code"]

    assert estimate.speedup == pytest.approx(4.0)
    assert estimate.over_alternative is None


def test_an_alternative_that_failed_or_missed_a_task_gives_no_figure() -> None:
    failed = estimates(replace(ALONE, outcome="failed", reason="out-of-memory"))
    tasks = estimates()["spec", None]  # seven of the fixed tasks have no prompt at all

    assert failed["spec", "code"].over_alternative is None
    assert tasks.over_alternative is None
