"""A campaign without a fixed length ends at the right time, and an early end loses nothing."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import pytest

from harness.campaign.model import ArmPlan, Campaign, Stopping
from harness.report.events import Event, TrialEnded
from harness.run.execute import RunContext
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.method import NO_SPECULATION
from schemas.submission import Snapshot, Submission
from tests.harness.campaigns import BASELINE, MACHINE, campaign, measure
from tests.harness.fake_runner import FakeRig, FakeSession

AGAIN = ArmPlan(id="again", role="control", method=NO_SPECULATION, baseline="baseline")
# Two arms and two prompts make a block of four trials, each of a prompt of 50 ms and eleven steps
# of 20 ms: 1.08 s. Before the first, two warm-ups of 50 ms and 15 steps each take 0.7 s.
PER_BLOCK = 4
STEADY = FakeRig(noise=0.0)
RESTLESS = FakeRig(noise=0.5)


class VirtualClock:
    """A fake engine that counts its working seconds."""

    def __init__(self, rig: FakeRig) -> None:
        self._sessions: list[FakeSession] = []
        self._rig = rig

    def __call__(self, campaign: Campaign) -> FakeSession:
        """Open another session, whose time is added."""
        self._sessions.append(FakeSession(self._rig, campaign))
        return self._sessions[-1]

    def seconds(self) -> float:
        """Total time of all sessions so far."""
        return sum(session.clock_ms for session in self._sessions) / 1000

    @property
    def opened(self) -> int:
        """Number of sessions opened."""
        return len(self._sessions)


def limited(*, budget_s: float | None = None) -> Campaign:
    stopping = Stopping(budget_s=budget_s)
    return replace(campaign(arms=(BASELINE, AGAIN), blocks=6), stopping=stopping)


def measured(
    plan: Campaign,
    work_file: Path,
    runner: VirtualClock,
    *,
    resume: bool = False,
    observe: Callable[[Event], None] = lambda _event: None,
) -> Submission:
    times = chain(("2026-11-21T09:00:00Z",), repeat("2026-11-21T10:00:00Z"))
    context = RunContext(
        machine=MACHINE,
        snapshot=lambda moment: Snapshot(moment=moment),
        now=lambda: next(times),
        clock=runner.seconds,
        observe=observe,
    )
    submission = measure(
        plan,
        runner=runner,
        context=context,
        work_file=work_file,
        resume=resume,
    )
    assert findings(canonical_bytes(encode(submission))) == ()
    return submission


def keys(submission: Submission) -> list[tuple[str, str, int]]:
    return [(trial.arm, trial.prompt, trial.block) for trial in submission.trials]


def interrupt_at(order: int) -> Callable[[Event], None]:
    def observe(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.order == order:
            raise KeyboardInterrupt

    return observe


@pytest.mark.parametrize(
    ("budget_s", "blocks"),
    [
        (1.0, 1),  # the first block is always run
        (3.5, 1),  # after it 1.78 s are spent; the second would end at 3.56 s
        (4.0, 2),  # after the second 2.86 s; the third would end at 4.29 s
        (4.3, 3),
    ],
)
def test_no_block_starts_if_it_would_end_after_the_budget(
    tmp_path: Path, budget_s: float, blocks: int
) -> None:
    runner = VirtualClock(STEADY)

    submission = measured(limited(budget_s=budget_s), tmp_path / "run.jsonl", runner)

    assert len(submission.trials) == blocks * PER_BLOCK
    assert (submission.design.ended, submission.design.budget_s) == ("budget-spent", budget_s)
    assert runner.seconds() <= budget_s or blocks == 1


def test_a_budget_that_is_enough_changes_nothing(tmp_path: Path) -> None:
    runner = VirtualClock(STEADY)

    submission = measured(limited(budget_s=100.0), tmp_path / "run.jsonl", runner)

    assert (submission.design.ended, len(submission.trials)) == ("completed", 6 * PER_BLOCK)
    assert runner.seconds() == pytest.approx(0.7 + 6 * 1.08)


def test_a_spent_budget_can_be_raised_and_the_campaign_continues(tmp_path: Path) -> None:
    work_file = tmp_path / "run.jsonl"
    first = measured(limited(budget_s=4.0), work_file, VirtualClock(STEADY))

    # Two blocks took 2.16 s before; with warm-ups, the third ends at 4.0 s and the fourth at 5.0 s.
    again = measured(limited(budget_s=5.5), work_file, VirtualClock(STEADY), resume=True)

    assert keys(again)[: 2 * PER_BLOCK] == keys(first)
    assert len(set(keys(again))) == len(again.trials) == 4 * PER_BLOCK
    assert (again.design.ended, again.design.resumed) == ("budget-spent", 1)


@pytest.mark.parametrize("order", [1, 11, 12, 18])
def test_ctrl_c_and_resume_keep_every_trial(tmp_path: Path, order: int) -> None:
    work_file = tmp_path / "run.jsonl"
    plan = limited()
    cut = measured(plan, work_file, VirtualClock(RESTLESS), observe=interrupt_at(order))

    whole = measured(plan, work_file, VirtualClock(RESTLESS), resume=True)

    assert (cut.design.ended, len(cut.trials)) == ("interrupted", order + 1)
    assert keys(whole)[: order + 1] == keys(cut)
    assert len(set(keys(whole))) == len(whole.trials) == 6 * PER_BLOCK
    assert (whole.design.ended, whole.design.resumed) == ("completed", 1)
