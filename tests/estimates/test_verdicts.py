"""A verdict follows from the interval, the failures and the doubts of an arm."""

from dataclasses import replace

import pytest

from estimates.model import Interval, Verdict
from estimates.verdicts import judge, verdict
from schemas.method import Method
from schemas.submission import Arm, Trial
from tests.estimates.campaigns import CONTROL, SPEC, failed, trial

CLEAR, LOSES = Interval(low=1.5, high=1.6), Interval(low=0.5, high=0.6)
BASE = [trial("baseline")]
EMPTY = replace(CONTROL, method=Method(type="empty-draft"))
OUT_OF_MEMORY = replace(SPEC, outcome="failed", reason="out-of-memory")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.021, 1.1, "helps"),
        (1.02, 1.1, "no-clear-difference"),
        (0.9, 0.979, "hurts"),
        (0.9, 0.98, "no-clear-difference"),
        (0.5, 2.0, "no-clear-difference"),
        # Nine times as high as low: a half-width of a factor 3, whose third is 1.442.
        (1.45, 13.05, "helps"),
        (1.44, 12.96, "no-clear-difference"),
        (0.0769, 0.692, "hurts"),
        (0.0772, 0.695, "no-clear-difference"),
    ],
)
def test_the_interval_of_a_file_must_clear_two_percent_and_a_third_of_its_half_width(
    low: float, high: float, expected: str
) -> None:
    assert judge(Interval(low=low, high=high)) == expected


def test_an_arm_whose_whole_request_is_clearly_slower_does_not_help() -> None:
    assert judge(CLEAR, LOSES) == "slower-in-all"
    # Not clearly slower: "helps" needs a gain per token and no clear loss in all.
    assert judge(CLEAR, Interval(low=0.8, high=1.1)) == "helps"
    assert judge(CLEAR, None) == "helps"
    assert judge(LOSES, LOSES) == "hurts"
    assert judge(None) == "too-few-prompts"


@pytest.mark.parametrize(
    ("arm", "trials", "baseline", "judged", "expected"),
    [
        (SPEC, [trial(drafted=0), failed()], BASE, "helps", "never-drafted"),
        (SPEC, [trial(drafted=0), trial(drafted=3)], BASE, "helps", "helps"),
        (SPEC, [trial()], BASE, "helps", "helps"),  # unknown counters are not zero
        (EMPTY, [trial(drafted=0)], BASE, "helps", "helps"),  # meant to draft nothing
        (OUT_OF_MEMORY, [trial()], BASE, "helps", "failed"),
        (SPEC, [failed()], BASE, "too-few-prompts", "failed"),
        (SPEC, [trial()], [failed("baseline")], "too-few-prompts", "failed"),
        (SPEC, [], [], "too-few-prompts", "too-few-prompts"),  # an arm that never ran
    ],
)
def test_an_arm_that_drafted_nothing_or_failed_is_not_judged_by_its_ratio(
    arm: Arm, trials: list[Trial], baseline: list[Trial], judged: Verdict, expected: Verdict
) -> None:
    assert verdict(arm, trials, baseline, judged) == expected
