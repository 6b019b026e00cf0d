"""Runs a tune: a look at the largest depth, and a certificate of the best forecasts.

Each stage is a campaign with a separate journal, so that a killed tune can be resumed.
`harness.tune.forecast` evaluates the measurements of the look.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace

from harness.campaign import trial_order
from harness.campaign.model import ArmPlan, Campaign, SuitePrompt
from harness.errors import BadInputError, MachineError, NothingMeasuredError
from harness.report.events import Event, Observer
from harness.run import execute, journal
from harness.run.execute import EndEarlyError
from harness.run.time_limit import FIRST_ANSWERS
from harness.runners.base import Runner
from harness.tune.forecast import Candidate, of_depths, of_family, shortlist
from harness.tune.outcome import Outcome
from harness.tune.search import BLOCKS, CERTIFIED, Family, Prompts, StageName, stage
from harness.tune.tune_clock import TuneClock
from schemas.submission import Submission

# Failures of a large depth that a small depth may avoid.
_OF_DEPTH = ("out-of-memory", "timed-out", "crashed")

# Adapts a stage to an engine and returns its runner. Raises `HarnessError`.
OnEngine = Callable[[Campaign], tuple[Campaign, Runner]]
# Shows a stage while it runs.
Show = Callable[[StageName], AbstractContextManager[Observer]]


@dataclass(kw_only=True)
class Tuner:
    """One tune on one engine. `base` has the models and settings; only its baseline arm is used.

    A time limit that `grows` was not given.
    """

    on_engine: OnEngine
    base: Campaign
    families: Sequence[Family]
    prompts: Prompts
    limit_s: float
    grows: bool = False
    context: execute.RunContext
    show: Show
    say: Callable[[str], None]
    resume: bool = False
    clock: Callable[[], float] = time.monotonic
    stages: dict[StageName, Submission] = field(default_factory=dict)
    campaigns: dict[StageName, Campaign] = field(default_factory=dict)
    elapsed: TuneClock = field(init=False)
    stopped: bool = False

    def run(self) -> Outcome:
        """Measure until the pick is certified, the time is spent, or Ctrl-C is pressed."""
        self.elapsed = TuneClock(self.limit_s, self.clock, self.stages)
        candidates = self._look()
        most, prompts = CERTIFIED, self.prompts.certificate
        # As many prompts as the look's trials allow, so that a resumed tune has the same prompts.
        walls = [each.wall_ms / 1000 for each in self.stages["look"].trials if each.wall_ms]
        if walls:
            left_s = max(0.0, self.elapsed.limit_s - sum(walls))
            trial_s = sum(walls) / len(walls)
            most, prompts = self.prompts.fitting(trial_s=trial_s, left_s=left_s)
        # A single pass has no spread: two passes of each arm give an interval.
        fewest = BLOCKS if self.base.interleaved == "block" else 1
        if candidates and not self._interrupted and self.elapsed.fits(fewest):
            chosen = {each.id for each in shortlist(candidates, most)}
            arms = [each for family in self.families for each in family.arms.values()]
            self._measure(
                "certificate",
                [each for each in arms if each.id in chosen],
                prompts,
                blocks=BLOCKS,
                budget_s=max(1.0, self.elapsed.left_s()),
            )
        return Outcome(
            candidates=tuple(candidates), stages=dict(self.stages), interrupted=self._interrupted
        )

    def forget(self) -> None:
        for campaign in self.campaigns.values():
            journal.remove(journal.path_of(campaign))

    def _look(self) -> list[Candidate]:
        """Measure one block of the scouts; return every depth to try, with its forecast."""
        scouts = {
            family.name: family.scouts(probed=self.base.interleaved == "prompt")
            for family in self.families
        }
        arms = [arm for arms in scouts.values() for arm in arms]
        seen = self._measure("look", arms, self.prompts.look, blocks=1, budget_s=None)
        # An interrupted look may lack the largest depth; --resume continues it.
        if seen is None or self._interrupted:
            return []
        candidates: list[Candidate] = []
        for family in self.families:
            measured = [arm for arm in seen.arms if arm.id in {s.id for s in scouts[family.name]}]
            ran = [arm for arm in measured if arm.outcome == "ok"]
            failed = [arm.method.n_max or 0 for arm in measured if arm not in ran]
            if ran or any(arm.reason in _OF_DEPTH for arm in measured):
                below = min(failed, default=None)
                predicted = of_family(seen, ran) if ran else None
                candidates += of_depths(family, predicted, below=below)
        if not candidates:
            reasons = ", ".join(f"{arm.id} ({arm.reason})" for arm in seen.arms if arm.reason)
            raise MachineError(f"no method could run: {reasons}; run python -m harness doctor")
        return candidates

    def _measure(
        self,
        name: StageName,
        arms: Sequence[ArmPlan],
        prompts: Sequence[SuitePrompt],
        *,
        blocks: int,
        budget_s: float | None,
    ) -> Submission | None:
        """Measure a stage; return its submission, or `None` if Ctrl-C preceded the first answer."""
        planned = stage(self.base, arms, prompts, blocks=blocks, budget_s=budget_s)
        campaign, runner = self.on_engine(planned)
        self.campaigns[name] = campaign
        context = replace(
            self.context,
            pause="answer" if name == "look" else "pass",
            compares=name == "look",  # smaller depths may run if all of the look fail
        )
        resume = self._resumes(campaign)
        try:
            with self.show(name) as shown:

                def observe(event: Event) -> None:
                    self.elapsed.observe(event)
                    shown(event)

                context = replace(context, observe=observe)
                self.stages[name] = self._ended(campaign, runner, context, name, resume=resume)
        except NothingMeasuredError:
            if not self.stages:
                raise
            self.stopped = True  # the earlier stages already have a result
        return self.stages.get(name)

    def _resumes(self, campaign: Campaign) -> bool:
        """Whether a stage continues its journal; a journal of an earlier tune is moved away."""
        work_file = journal.path_of(campaign)
        began = journal.began(work_file) if self.resume else None
        if began is not None and all(
            began >= stage.measured_from for stage in self.stages.values()
        ):
            return True
        if self.resume and not self.stages:
            raise BadInputError(
                "there is no tune with these options to continue; leave out --resume"
            )
        journal.make_way(work_file, say=self.say)
        return False

    def _ended(
        self,
        campaign: Campaign,
        runner: Runner,
        context: execute.RunContext,
        name: StageName,
        *,
        resume: bool,
    ) -> Submission:
        """Run a stage and return its submission.

        A look ends early if every speculating arm has failed. Once it allows a forecast, it also
        ends early to leave time for a certificate.
        """
        early: EndEarlyError | None = None
        planned = trial_order.plan(campaign)
        self.elapsed.begin_stage()
        work_file = journal.path_of(campaign)
        with closing(  # also after an error: a server must not outlive the tune
            execute.by_blocks(
                campaign, runner=runner, context=context, work_file=work_file, resume=resume
            )
        ) as running:
            while True:
                try:
                    order = next(running) if early is None else running.throw(early)
                except StopIteration as end:
                    submission: Submission = end.value
                    return submission
                if name == "look" and self._look_ends(campaign, planned[order].prompt):
                    early = EndEarlyError("budget-spent")

    def _look_ends(self, campaign: Campaign, next_prompt: str) -> bool:
        """Whether the look ends here. Raises `BadInputError` for a limit that allows no pick."""
        done = self.elapsed.trials
        self.elapsed.require_pick(grows=self.grows)
        if len(self.elapsed.failed) == len(campaign.arms) - 1:
            return True
        drafted = len({trial.arm for trial in done}) > 1 and len(done) >= FIRST_ANSWERS
        return drafted and next_prompt != done[-1].prompt and self.elapsed.look_is_long()

    @property
    def _interrupted(self) -> bool:
        ended = {each.design.ended for each in self.stages.values()}
        return self.stopped or "interrupted" in ended
