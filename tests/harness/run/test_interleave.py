"""Several engines alternate by block, and a failing one does not stop the others."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from harness.campaign.trial_order import engine_orders, plan
from harness.errors import HarnessError, MachineError, NothingMeasuredError
from harness.report import events
from harness.report.events import Event, TrialStarted
from harness.report.expected_time import RemainingTime
from harness.run.execute import by_blocks
from harness.run.interleave import EngineRun, NotStartedError, all_fit, interleave
from harness.run.time_limit import JointEnd
from schemas.submission import Gpu, Submission
from tests.harness.campaigns import BASELINE, LOOKUP, campaign, context
from tests.harness.fake_runner import FakeRig, FakeSession

PLAN = campaign(arms=(BASELINE, LOOKUP), prompts=1, blocks=3, max_output_tokens=4)
Log = list[tuple[str, int]]


class _Watcher:
    """Records the measured block and run, and may interrupt."""

    def __init__(self, name: str, log: Log, interrupt_at: int | None) -> None:
        self._name, self._log, self._interrupt_at = name, log, interrupt_at

    def __call__(self, event: Event) -> None:
        trial = getattr(event, "trial", None)
        if trial is not None and (self._name, trial.block) not in self._log:
            self._log.append((self._name, trial.block))
            if trial.block == self._interrupt_at:
                raise KeyboardInterrupt


def engine_run(
    name: str,
    folder: Path,
    log: Log,
    *,
    rig: FakeRig | None = None,
    interrupt_at: int | None = None,
) -> EngineRun:
    return by_blocks(
        PLAN,
        runner=partial(FakeSession, rig or FakeRig()),
        context=context(_Watcher(name, log, interrupt_at)),
        work_file=folder / f"{name}.jsonl",
        resume=False,
    )


def measured(outcome: Submission | HarnessError) -> Submission:
    assert not isinstance(outcome, HarnessError), outcome
    return outcome


def test_each_engine_has_one_block_in_turn(tmp_path: Path) -> None:
    log: Log = []

    ended = interleave({name: engine_run(name, tmp_path, log) for name in ("one", "two")})

    assert log == [(name, block) for block in range(3) for name in ("one", "two")]
    assert [len(measured(each).trials) for each in ended.values()] == [6, 6]


def test_an_engine_that_cannot_run_is_an_error_and_the_other_continues(tmp_path: Path) -> None:
    broken = FakeRig(failing_arms={"baseline": "load-failed"})
    log: Log = []

    ended = interleave(
        {
            "broken": engine_run("broken", tmp_path, log, rig=broken),
            "sound": engine_run("sound", tmp_path, log),
        }
    )

    assert isinstance(ended["broken"], MachineError)
    assert measured(ended["sound"]).design.ended == "completed"


@pytest.mark.parametrize("interrupted", ["one", "two"])
def test_ctrl_c_ends_all_engines_and_keeps_their_measurements(
    tmp_path: Path, interrupted: str
) -> None:
    log: Log = []

    ended = interleave(
        {
            name: engine_run(name, tmp_path, log, interrupt_at=1 if name == interrupted else None)
            for name in ("one", "two")
        }
    )

    assert {measured(each).design.ended for each in ended.values()} == {"interrupted"}
    assert len(log) == (3 if interrupted == "one" else 4)


def test_an_engine_that_had_not_begun_when_ctrl_c_came_has_measured_nothing(
    tmp_path: Path,
) -> None:
    log: Log = []

    ended = interleave(
        {
            "first": engine_run("first", tmp_path, log, interrupt_at=0),
            "second": engine_run("second", tmp_path, log),
        }
    )

    assert isinstance(ended["first"], NothingMeasuredError)
    assert isinstance(ended["second"], NotStartedError)
    assert log == [("first", 0)]


def pausing(name: str, positions: tuple[int, ...], log: Log) -> EngineRun:
    """A run whose passes start at these positions; it measures nothing and ends with an error."""
    for position in positions:
        if position != positions[0]:
            yield position
        log.append((name, position))
    raise MachineError(f"{name} is done")


def test_the_order_in_a_pass_is_its_drawn_one() -> None:
    log: Log = []
    turns = {0: ("two", "one"), 4: ("one", "two"), 8: ("two", "one")}

    interleave({name: pausing(name, (0, 4, 8), log) for name in ("one", "two")}, turns)

    assert log == [("two", 0), ("one", 0), ("one", 4), ("two", 4), ("two", 8), ("one", 8)]


def test_after_a_kill_the_shorter_run_continues_alone_until_both_are_level() -> None:
    log: Log = []

    interleave(
        {"ahead": pausing("ahead", (8, 12), log), "behind": pausing("behind", (4, 8, 12), log)}
    )

    assert log == [("ahead", 8), ("behind", 4), ("behind", 8), ("ahead", 12), ("behind", 12)]


def test_engines_that_take_turns_after_every_answer_give_the_same_one_next_to_each_other(
    tmp_path: Path,
) -> None:
    plan = replace(campaign(arms=(BASELINE, LOOKUP), prompts=3, blocks=1), interleaved="block")
    log: list[tuple[str, str, str]] = []

    def noting(name: str) -> EngineRun:
        def note(event: Event) -> None:
            if isinstance(event, TrialStarted):
                log.append((name, event.trial.arm, event.trial.prompt))

        return by_blocks(
            plan,
            runner=partial(FakeSession, FakeRig()),
            context=replace(context(note), pause="answer"),
            work_file=tmp_path / f"{name}.jsonl",
            resume=False,
        )

    turns = engine_orders(plan, ("base", "head"), "answer")
    ended = interleave({name: noting(name) for name in ("base", "head")}, turns)

    pairs = list(zip(log[::2], log[1::2], strict=True))
    assert [one[1:] for one, _ in pairs] == [other[1:] for _, other in pairs]
    # Three prompts of each arm: the order is turned around from one to the next.
    firsts = [one[0] for one, _ in pairs]
    assert all(firsts[n] != firsts[n + 1] for n in (0, 1, 3, 4))
    assert [len(measured(each).trials) for each in ended.values()] == [6, 6]


def test_concurrent_requests_are_not_split(tmp_path: Path) -> None:
    three = replace(LOOKUP, id="three", concurrency=3)
    plan = replace(campaign(arms=(BASELINE, three), prompts=3, blocks=1), interleaved="block")
    run = by_blocks(
        plan,
        runner=partial(FakeSession, FakeRig()),
        context=replace(context(), pause="answer"),
        work_file=tmp_path / "run.jsonl",
        resume=False,
    )

    # Three answers of the baseline with two pauses between them, one before the other pass.
    assert len(list(run)) == 3


def test_both_stay_in_memory_only_without_a_graphics_card_and_with_room_for_twice_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"x" * 100)
    one = replace(PLAN, target=replace(PLAN.target, path=model), drafts=())
    machine = context().machine
    free = SimpleNamespace(available=401)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)

    assert all_fit([one, one], replace(machine, gpus=()))
    assert not all_fit([one, one], replace(machine, gpus=(Gpu(name="RTX 3090"),)))
    free.available = 400
    assert not all_fit([one, one], replace(machine, gpus=()))


def paced(end: JointEnd, late_s: float = 2.0) -> int | None:
    """The number of answers after which a run ends; `None` if the time limit never ends it.

    Loading takes 8 s and an answer 2 s, in later blocks `late_s`. Three arms and four prompts are a
    block of twelve, so the first takes 24 s; there are three.
    """
    now_s = 0.0
    end.clock = lambda: now_s
    planned = campaign(prompts=4, blocks=3)
    remaining = RemainingTime(clock=end.clock)
    remaining.observe("", events.TrialsPlanned(total=36, prompts=4))
    for arm in planned.arms:
        remaining.observe("", events.WarmedUp(arm=arm.id))
    runs: Any = {"base": SimpleNamespace(campaign=planned, so_far=list)}
    stop = end.after_answers(runs, remaining)
    now_s = 8.0
    for number, trial in enumerate(plan(planned)[:-1], start=1):
        now_s += late_s if trial.block else 2.0
        remaining.observe("", events.TrialEnded(trial=trial, again_s=2.0))
        if stop(number) is not None:
            return number
    return None


@pytest.mark.parametrize(
    ("end", "ends", "least_s"),
    [
        # A block ends after 8 + 24 s, the last one after 8 + 72 s.
        ({"budget_s": 84.0, "compares": True}, None, None),
        ({"budget_s": 40.0, "compares": True}, 12, None),
        # Seen after three answers, when the limit still has half of its time.
        ({"budget_s": 31.0, "compares": True}, 3, 32.0),
        ({"budget_s": 79.0, "compares": True, "least_blocks": 3}, 3, 80.0),
        # The limit was not given: it becomes 1.2 times 80 s.
        ({"budget_s": 79.0, "compares": True, "least_blocks": 3, "grows": True}, None, None),
        # A run reports the prompts that were answered until the limit came: 8 + 11 * 2 are within.
        ({"budget_s": 31.0}, 12, None),
        ({"budget_s": 19.0}, 6, 32.0),
        # A third block would end after 56 * 3 / 2 s: it loads again.
        ({"budget_s": 83.0, "compares": True}, 24, None),
    ],
)
def test_engines_end_at_the_time_limit_and_blocks_that_are_too_long_are_seen_early(
    end: dict[str, Any], ends: int | None, least_s: float | None
) -> None:
    compares = end.pop("compares", False)
    joint = JointEnd(enough=(lambda _found: False) if compares else None, **end)

    assert (paced(joint), joint.least_s) == (ends, least_s)


def test_a_block_that_takes_longer_than_those_before_it_ends_with_the_limit() -> None:
    end = JointEnd(budget_s=70.0)

    # A second block would have ended after 64 s, but its second answer ends after 92 s.
    assert (paced(end, late_s=30.0), end.least_s) == (14, None)
