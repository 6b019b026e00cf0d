"""The progress display shows each step; elsewhere it prints failures and rare updates."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from harness.campaign.model import ArmPlan, PlannedTrial
from harness.campaign.trial_order import plan
from harness.report import events
from harness.report.expected_time import ExpectedTime, RemainingTime
from harness.report.progress import ProgressDisplay
from harness.runners.base import Failure
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign
from tests.processes import eventually

EXPECTED = ExpectedTime(seconds=60, least_seconds=60, first_seconds=60)
TRIAL = PlannedTrial(order=0, block=0, prompt="code-one", arm="baseline")
ALL = (
    events.TrialsPlanned(total=3, done=1),
    events.Stage(kind="loading", name="Big-7B"),
    events.Stage(kind="warming-up", name="baseline"),
    events.Stage(kind="probing"),
    events.TrialStarted(trial=TRIAL),
    events.TrialEnded(trial=TRIAL),
)


def shown(*happened: events.Event, terminal: bool = True) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, color_system=None)
    with ProgressDisplay(console) as display:
        for event in happened:
            display(event)
    return out.getvalue()


def test_a_terminal_shows_arm_prompt_and_how_many_are_done() -> None:
    assert "baseline · code-one, 2 of 3 trials" in shown(*ALL)


def test_a_log_gets_a_line_after_the_first_trial_and_then_every_minute() -> None:
    out, ended = io.StringIO(), events.TrialEnded(trial=TRIAL)

    with ProgressDisplay(Console(file=out, width=120), line_s=0.2) as display:
        display(events.Stage(kind="loading", name="Big-7B"))
        assert eventually(lambda: out.getvalue() == "Loading Big-7B, 1 s so far\n")
        for event in (events.TrialsPlanned(total=40), ended, ended, ended):
            display(event)
        assert eventually(lambda: "3 of 40 trials" in out.getvalue())

    lines = out.getvalue().splitlines()
    assert [line for line in lines if line.startswith("1 of 40 trials, about ")] == [lines[1]]
    assert [line for line in lines if line.startswith("2 of 40")] == []
    assert lines[-1].endswith(" left")


def test_the_remaining_time_follows_from_the_pace_so_far() -> None:
    now_s = 0.0
    remaining = RemainingTime(most_s=400, clock=lambda: now_s)
    draft = replace(TRIAL, arm="draft-model-n4")

    def happens(*those: events.Event, after_s: float = 0) -> None:
        nonlocal now_s
        now_s += after_s
        for event in those:
            remaining.observe("", event)

    happens(events.TrialsPlanned(total=20, prompts=5, restarts=True))
    happens(events.WarmedUp(arm="baseline"), after_s=30)
    happens(events.WarmedUp(arm="draft-model-n4"), events.Stage(kind="probing"), after_s=20)
    assert remaining.seconds() is None
    # A server started for four seconds, as three more will.
    happens(events.TrialStarted(trial=TRIAL), after_s=10)  # the probes are not part of it
    happens(events.TrialEnded(trial=TRIAL, again_s=6), after_s=10)
    happens(events.TrialEnded(trial=TRIAL), after_s=2)  # a mean of four
    assert (remaining.trials, remaining.seconds()) == ((2, 20), None)  # no answer of the draft
    happens(events.TrialEnded(trial=draft, again_s=30), after_s=30)
    # 8 x 4 + 9 x 30 + 3 x 2 = 308, but after 102 s of 400 there are 298 left.
    assert remaining.seconds() == 298
    now_s = 450
    assert remaining.seconds() == 308 * (7 / 17)  # the block that runs is finished


def test_a_prompt_that_is_processed_once_is_not_expected_again() -> None:
    now_s = 0.0
    remaining = RemainingTime(clock=lambda: now_s)
    draft = replace(TRIAL, arm="draft-model-n4")
    remaining.observe("", events.TrialsPlanned(total=4, prompts=2))
    for arm in (TRIAL.arm, draft.arm):
        remaining.observe("", events.WarmedUp(arm=arm))

    now_s = 30
    remaining.observe("", events.TrialEnded(trial=TRIAL, again_s=10))
    assert remaining.seconds() is None  # the draft has not seen the prompt
    now_s = 42
    remaining.observe("", events.TrialEnded(trial=draft, again_s=10))

    assert remaining.seconds() == 2 * 10 + 20 + 2
    for trial, now_s in ((replace(TRIAL, prompt="b"), 72), (replace(draft, prompt="b"), 84)):  # noqa: B007 - read by the clock
        remaining.observe("", events.TrialEnded(trial=trial, again_s=10))
    remaining.observe("", events.TrialsPlanned(total=6, done=4, prompts=2))
    assert remaining.seconds() == 2 * 10  # both prompts are known


def announced(
    arms: Sequence[ArmPlan], *, blocks: int, restarts: bool, later: float, slow_from: float
) -> list[float]:
    """The announced over the true duration, from the third answer on, once it is announced.

    The arms answer four prompts in each block, the baseline in 2 s and the others in 1.2 s; after
    the share `slow_from` of the answers everything takes `later` times as long. A server starts in
    4 s, or an arm reads a prompt first in 1 s.
    """
    now_s, known, said = 10.0, set[object](), list[float | None]()
    remaining = RemainingTime(clock=lambda: now_s)
    planned = campaign(arms=tuple(arms), prompts=4, blocks=blocks)
    trials = plan(replace(planned, interleaved="block" if restarts else "prompt"))
    remaining.observe("", events.TrialsPlanned(total=len(trials), prompts=4, restarts=restarts))
    for arm in arms:
        remaining.observe("", events.WarmedUp(arm=arm.id))
    for number, trial in enumerate(trials, start=1):
        factor = later if number > len(trials) * slow_from else 1.0
        once = (trial.arm, trial.block if restarts else trial.prompt)
        once_s = 0.0 if once in known else factor * (4.0 if restarts else 1.0)
        known.add(once)
        answer_s = factor * (2.0 if trial.arm == BASELINE.id else 1.2)
        now_s += once_s + answer_s
        remaining.observe("", events.TrialEnded(trial=trial, again_s=answer_s))
        left_s = remaining.seconds()
        said.append(None if left_s is None else now_s + left_s)
    return [each / now_s for each in said[2:] if each is not None]


@pytest.mark.parametrize("arms", [(BASELINE, DRAFT), (BASELINE, DRAFT, LOOKUP)])
@pytest.mark.parametrize("blocks", [1, 2, 4])
@pytest.mark.parametrize("restarts", [True, False])
@pytest.mark.parametrize("later", [0.5, 1.0, 2.0])
def test_the_announced_time_is_right_within_half_from_the_third_answer_on(
    arms: tuple[ArmPlan, ...], blocks: int, later: float, *, restarts: bool
) -> None:
    ratios = announced(arms, blocks=blocks, restarts=restarts, later=later, slow_from=0.5)

    assert len(ratios) >= 4 * blocks
    assert min(ratios) >= 1 / 1.5
    assert max(ratios) <= 1.5
    assert ratios[-2:] == pytest.approx([1] * 2, abs=0.15)  # by then the new pace is known


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_servers_that_slow_down_after_the_first_arm_are_announced_once_all_have_answered(
    blocks: int,
) -> None:
    arms = (BASELINE, DRAFT, LOOKUP)
    share = 1 / (3 * blocks)

    ratios = announced(arms, blocks=blocks, restarts=True, later=2.0, slow_from=share)

    assert len(ratios) == 12 * blocks - 8
    assert min(ratios) >= 1 / 1.5


def test_a_failure_is_printed_once_with_its_reason() -> None:
    failure = Failure(reason="crashed", detail="nothing listens at [::1]:80")
    trial = events.TrialEnded(trial=TRIAL, failure=failure)
    arm = events.ArmFailed(arm="draft-model-n3", failure=failure)

    assert shown(events.TrialsPlanned(total=3), arm, trial, trial, terminal=False) == (
        "draft-model-n3 cannot run: nothing listens at [::1]:80\n"
        "1 of 3 trials, about 1 s left\n"
        "baseline failed: nothing listens at [::1]:80\n"
    )
    assert "draft-model-n3 cannot run: nothing listens" in shown(arm)


def test_the_first_answers_correct_what_is_expected() -> None:
    out = io.StringIO()

    with ProgressDisplay(Console(file=out, width=120), expected=EXPECTED) as display:
        display(events.TrialsPlanned(total=3))
        display(events.WarmedUp(arm="baseline"))
        assert out.getvalue() == ""
        display(events.TrialEnded(trial=TRIAL))
        display(events.TrialEnded(trial=TRIAL))

    # Hardly a moment of sixty seconds.
    faster = "This machine is faster than estimated: the run takes about 1 s.\n"
    assert out.getvalue() == f"{faster}1 of 3 trials, about 1 s left\n"


def test_a_run_within_its_time_prints_nothing_about_it() -> None:
    out = io.StringIO()

    with ProgressDisplay(Console(file=out, width=120), expected=EXPECTED):
        pass

    assert out.getvalue() == ""
