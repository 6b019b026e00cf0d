"""A verdict follows from the interval, the failures and the doubts of an arm."""

from dataclasses import replace

import pytest

from estimates.model import Interval
from estimates.verdicts import judge, verdict
from schemas.method import Method
from tests.estimates.campaigns import CONTROL, SPEC, failed, trial

CLEAR, LOSES = Interval(low=1.5, high=1.6), Interval(low=0.5, high=0.6)
BASE = [trial("baseline")]


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


def test_without_an_interval_there_were_too_few_prompts() -> None:
    assert judge(None) == "too-few-prompts"


def test_an_arm_whose_whole_request_is_clearly_slower_does_not_help() -> None:
    assert judge(CLEAR, LOSES) == "slower-in-all"
    # Not clearly slower: "helps" needs a gain per token and no clear loss in all.
    assert judge(CLEAR, Interval(low=0.8, high=1.1)) == "helps"
    assert judge(CLEAR, None) == "helps"
    assert judge(LOSES, LOSES) == "hurts"


def test_an_arm_that_drafted_nothing_is_not_judged_by_its_ratio() -> None:
    assert verdict(SPEC, [trial(drafted=0), failed()], BASE, "helps") == "never-drafted"
    assert verdict(SPEC, [trial(drafted=0), trial(drafted=3)], BASE, "helps") == "helps"


def test_unknown_counters_do_not_mean_that_nothing_was_drafted() -> None:
    assert verdict(SPEC, [trial()], BASE, "helps") == "helps"


def test_an_empty_drafter_is_meant_to_draft_nothing() -> None:
    empty = replace(CONTROL, method=Method(type="empty-draft"))

    assert verdict(empty, [trial(drafted=0)], BASE, "helps") == "helps"


def test_a_failed_arm_is_failed_whatever_its_trials_say() -> None:
    arm = replace(SPEC, outcome="failed", reason="out-of-memory")

    assert verdict(arm, [trial()], BASE, "helps") == "failed"


def test_an_arm_or_baseline_without_a_finished_trial_has_failed() -> None:
    assert verdict(SPEC, [failed()], BASE, "too-few-prompts") == "failed"
    assert verdict(SPEC, [trial()], [failed("baseline")], "too-few-prompts") == "failed"


def test_an_arm_that_never_ran_did_not_fail() -> None:
    assert verdict(SPEC, [], [], "too-few-prompts") == "too-few-prompts"
