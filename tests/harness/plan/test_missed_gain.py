"""A report of a missed gain names the unusual part, and how many more prompts would decide."""

from types import SimpleNamespace
from typing import cast

import pytest

from estimates.model import Interval
from harness.plan.missed_gain import more_prompts, parts
from harness.report.setting_results import SettingFigures
from planner.evidence import Rig
from planner.kinds import Case

CASE = Case(rig=Rig(card="rtx 3090"), mixture=False, method="mtp")


def said(tokens: float, cost: float) -> str:
    return " ".join(parts(CASE, 3, (tokens, cost), 0.0))


def test_few_accepted_drafts_are_compared_with_those_of_people() -> None:
    assert said(1.3, 1.5).startswith("This text gets 10 % accepted; ")
    assert "A round costs" not in said(1.3, 1.5)


def test_dear_rounds_are_compared_with_those_elsewhere() -> None:
    assert said(2.8, 3.4).startswith("A round costs 3.4 plain steps here, 1.")
    assert "This text gets" not in said(2.8, 3.4)


def test_if_neither_part_is_unusual_both_are_said() -> None:
    assert "This text gets 60 % accepted; " in said(2.8, 1.6)
    assert "A round costs 1.6 plain steps here" in said(2.8, 1.6)


@pytest.mark.parametrize(
    ("speedup", "low", "high", "line"),
    [
        # Twice as far as the estimate is from 1: four times the prompts.
        (1.1, 1.1 / 1.21, 1.1 * 1.21, ["About 30 more prompts of this kind would decide."]),
        (1.3, 1.2, 1.4, []),
        (1.001, 0.8, 1.25, []),
    ],
)
def test_the_prompts_that_would_decide_grow_with_the_square_of_the_interval(
    speedup: float, low: float, high: float, line: list[str]
) -> None:
    whole = SimpleNamespace(speedup=speedup, prompts=10, interval=Interval(low=low, high=high))
    best = cast("SettingFigures", SimpleNamespace(answer="unknown", whole=whole))

    assert [*more_prompts(best)] == line
