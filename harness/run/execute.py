"""Run a campaign: prepare the arms, probe costs, and run the trials in the planned order.

Every measurement is on disk before the next one starts. A failure is recorded, and the remaining
trials continue; Ctrl-C ends the campaign with the results so far.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from harness.campaign.model import ArmPlan, Campaign, Pause, PlannedTrial
from harness.campaign.trial_order import passes
from harness.errors import MachineError
from harness.report import events
from harness.run import journal, new_facts, one_token_requests, salvage, warm_until_steady
from harness.run.passes import answers
from harness.run.record import assemble, utc
from harness.run.stopping import Blocks, Early, Ended, StopController
from harness.runners import base, probes
from schemas.rig import Machine, Moment, Snapshot
from schemas.submission import Probes, Submission, VerificationProbe

TakeSnapshot = Callable[[Moment], Snapshot]

# An arm with this many consecutive failures will not recover; other arms make better use of the
# time.
_FAILURES_TO_GIVE_UP = 3


class EndEarlyError(Exception):
    """Thrown into a waiting run to end it as the run's own stop rule would."""

    def __init__(self, reason: Early) -> None:
        super().__init__(reason)
        self.reason = reason


def utc_now() -> str:
    """Return the current time in the format of result files."""
    return utc(datetime.now(UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """A run's environment: the machine, this tool's commit, clocks, and an observer.

    `clock` counts seconds from an arbitrary start, for the time budget and the end of the run.
    With a `pause` after every answer, a different engine can answer the same prompt next while this
    engine's server keeps running. A run that `compares` engines needs the baseline even if all
    other arms fail.
    """

    machine: Machine
    snapshot: TakeSnapshot
    commit: str | None = None
    now: Callable[[], str] = utc_now
    clock: Callable[[], float] = time.monotonic
    observe: events.Observer = lambda _event: None
    pause: Pause = "pass"
    compares: bool = False


def by_blocks(
    campaign: Campaign, *, runner: base.Runner, context: RunContext, work_file: Path, resume: bool
) -> Generator[int, None, Submission]:
    """Run a campaign, pausing between passes so that other runs can use the machine.

    Yields the `order` of the next trial. A caller that gets Ctrl-C during a pause throws
    `KeyboardInterrupt` into the generator.
    """
    with journal.Journal.open(
        work_file, campaign, measured_from=context.now(), resume=resume
    ) as written:
        run = _Run(campaign, written, context)
        try:
            ended: Ended = (yield from run.everything(runner)) or "completed"
        except KeyboardInterrupt:
            ended = "interrupted" if run.unfinished() else "completed"
        return run.submission(ended)


class _Run:
    """One run of a campaign: its plan, and the journal of everything it measured."""

    def __init__(self, campaign: Campaign, written: journal.Journal, context: RunContext) -> None:
        self._campaign = campaign
        self._journal = written
        self._observe = context.observe
        self._context = context
        self._stopping = StopController(
            campaign=campaign,
            journal=written,
            clock=context.clock,
            observe=context.observe,
        )
        # The wall clock may be adjusted while the campaign runs.
        self._start_s = context.clock()
        self._failed_arms: set[str] = set()
        self._drafting = [] if context.compares else [arm for arm in campaign.arms if arm.drafts]
        self._failures_in_a_row: Counter[str] = Counter()
        # There is no pause while several requests are in flight.
        alone = (arm.id for arm in campaign.arms if arm.concurrency == 1)
        self._pauses_after = frozenset(alone if context.pause == "answer" else ())

    def everything(self, runner: base.Runner) -> Generator[int, None, Early | None]:
        """Run the trials that the journal lacks; if the campaign ended early, return the reason."""
        left = self._stopping.left()
        self._stopping.announce(left)
        early = self._stopping.early(min(left, default=self._campaign.blocks), left)
        if early or not left:
            return early
        self._observe(events.Stage(kind="loading", name=self._campaign.target.model.name))
        session = runner(self._campaign)
        try:
            self._snapshot("before")
            self._prepare(session)
            first = next(iter(left.values()))[0]
            failed = self._fact(first, base.Failure(reason="other", detail=""))
            salvage.require_writable(failed, self._journal.facts, self._assembled)
            try:
                early = yield from self._blocks(session, left)
                if early is None:
                    last = self._campaign.blocks - 1
                    early = yield from self._blocks(session, self._stopping.repeats(), before=last)
            except EndEarlyError as end:
                early = end.reason
            for fact in one_token_requests.answers(
                session, self._campaign, self._journal.facts, self._observe
            ):
                self._journal.add(fact)
            self._snapshot("after")
        finally:
            session.close()
        return early

    def _blocks(
        self, session: base.Session, left: Blocks, before: int | None = None
    ) -> Generator[int, None, Early | None]:
        turns = passes(
            (item for items in left.values() for item in items), self._campaign.interleaved
        )
        for turn in turns:
            block = turn[0].block
            if before is not None:
                early = yield from self._between(session, turn[0], left, before)
                if early:
                    return early
            before = block
            for trial, result, started_ms in answers(
                turn,
                self._campaign,
                session,
                skip=self._in_vain,
                observe=self._observe,
            ):
                self._record(trial, result, started_ms)
                if trial.arm in self._pauses_after and trial.order < turn[-1].order:
                    yield trial.order + 1
        return None

    def _between(
        self, session: base.Session, following: PlannedTrial, left: Blocks, before: int
    ) -> Generator[int, None, Early | None]:
        """Let other engines run; before a new block, decide whether to end the campaign early."""
        if isinstance(session, base.Resting):
            session.rest()
        yield following.order
        if before == following.block:
            return None
        early = self._stopping.early(following.block, left)
        if early is None:
            self._snapshot("during")
        return early

    def submission(self, ended: Ended = "completed") -> Submission:
        """Return the result so far, without measurements that violate the file format.

        Raises `NothingMeasuredError` if no trial was recorded.
        """
        return salvage.without_invalid(self._journal.facts, partial(self._assembled, ended=ended))

    def _assembled(self, facts: Sequence[journal.Fact], ended: Ended = "completed") -> Submission:
        return assemble(
            self._campaign,
            facts,
            machine=self._context.machine,
            commit=self._context.commit,
            part_s=self._context.clock() - self._start_s,
            ended=ended,
        )

    def unfinished(self) -> bool:
        """Whether a trial of the plan could still be run."""
        left = (item for items in self._stopping.left().values() for item in items)
        return not all(self._in_vain(item.arm) for item in left)

    def _in_vain(self, arm: str) -> bool:
        """Whether more trials are useless: the arm or all drafting arms on its baseline failed."""
        if arm in self._failed_arms or not self._drafting:
            return arm in self._failed_arms
        alive = [each for each in self._drafting if each.id not in self._failed_arms]
        used = {each.baseline for each in alive}
        baseline = next(each.baseline or each.id for each in self._campaign.arms if each.id == arm)
        return baseline not in used

    def _snapshot(self, moment: Moment) -> None:
        self._journal.add(journal.SnapshotFact(snapshot=self._context.snapshot(moment)))

    def _prepare(self, session: base.Session) -> None:
        report = session.report()
        self._journal.add(journal.EngineFact(engine=report.engine, settings=report.settings))
        reasons: list[str] = []
        curve = None
        for arm in self._campaign.arms:
            self._observe(events.Stage(kind="warming-up", name=arm.id))
            prepared = session.prepare(arm.id)
            self._record_arm(arm, prepared)
            if arm is self._campaign.arms[0]:  # a server's pass starts now
                curve = self._curve(session)
            if not isinstance(prepared, base.Failure):
                last = arm.id, prepared
            else:
                reasons.append(f"{arm.id}: {prepared.detail}")
        if self._drafting and {arm.id for arm in self._drafting} <= self._failed_arms:
            raise MachineError(f"nothing to compare: {'; '.join(dict.fromkeys(reasons))}")
        # In any other case every pass has a new engine, or the clock is a mean over idle cores.
        if self._campaign.interleaved == "prompt" and report.engine.backend != "cpu":
            self._wait_until_settled(session, *last)
        if not self._probed:
            self._observe(events.Stage(kind="probing"))
            costs = replace(session.probe() or Probes(), verification=curve)
            self._journal.add(journal.ProbesFact(probes=costs))

    @property
    def _probed(self) -> bool:
        return any(isinstance(fact, journal.ProbesFact) for fact in self._journal.facts)

    def _curve(self, session: base.Session) -> VerificationProbe | None:
        """Measure the cost of the target's steps by width; return `None` if that is impossible."""
        if self._context.compares or self._probed or not isinstance(session, base.Stepped):
            return None
        self._observe(events.Stage(kind="probing"))
        try:
            return probes.verification_curve(session, widest=probes.widest(self._campaign))
        except MachineError:
            return None

    def _wait_until_settled(self, session: base.Session, arm: str, first: base.PreparedArm) -> None:
        warm_up, snapshot = partial(session.prepare, arm), partial(self._context.snapshot, "warm")
        warm = warm_until_steady.wait_until_settled(warm_up, first, snapshot, self._context.clock)
        if warm is not None:
            self._journal.add(journal.SnapshotFact(snapshot=warm))
            self._observe(events.Settled(steady=bool(warm.steady)))

    def _record_arm(self, arm: ArmPlan, prepared: base.PreparedArm | base.Failure) -> None:
        if isinstance(prepared, base.Failure):
            if arm.role == "baseline":
                raise MachineError(f"the baseline cannot run: {prepared.detail}")
            self._failed_arms.add(arm.id)
            self._observe(events.ArmFailed(arm=arm.id, failure=prepared))
        for fact in new_facts.of_arm(arm, prepared):
            self._journal.add(fact)
        if not isinstance(prepared, base.Failure):
            self._observe(events.WarmedUp(arm=arm.id))

    def _record(
        self, item: PlannedTrial, result: base.Generation | base.Failure, started_ms: float | None
    ) -> None:
        fact = self._fact(item, result, started_ms)
        if isinstance(result, base.Generation):
            broken = salvage.breach(fact, self._journal.facts, self._assembled)
            if broken is not None:
                detail = f"an answer contradicts itself: {broken}"
                result = base.Failure(reason="bad-answer", detail=detail)
                fact = self._fact(item, result)
        self._journal.add(fact)
        if isinstance(result, base.Failure):
            self._failures_in_a_row[item.arm] += 1
            if self._failures_in_a_row[item.arm] >= _FAILURES_TO_GIVE_UP:
                self._failed_arms.add(item.arm)
            self._observe(events.TrialEnded(trial=item, failure=result))
            return
        self._failures_in_a_row[item.arm] = 0
        # In this process the state of a prompt is cached; a server processes every prompt again.
        again_ms = result.wall_ms if self._campaign.interleaved == "block" else result.decode_ms
        again_s = again_ms / 1000 if started_ms is None else None
        self._observe(events.TrialEnded(trial=item, again_s=again_s))

    def _fact(
        self,
        item: PlannedTrial,
        result: base.Generation | base.Failure,
        started_ms: float | None = None,
    ) -> journal.TrialFact:
        prompt = next(each for each in self._campaign.suite.prompts if each.id == item.prompt)
        order = sum(isinstance(fact, journal.TrialFact) for fact in self._journal.facts)
        return new_facts.of_trial(result, item, prompt, order, started_ms)
