"""Measure a command's campaign block by block on one engine, and write its result file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from answers.model import Setting
from estimates.model import Summary
from estimates.summary import summarize
from harness import features
from harness.campaign.model import ArmPlan, Campaign, Pause, layers_of
from harness.machine.checkout import commit
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.models.room import failed_allocation
from harness.report.progress import ProgressDisplay
from harness.report.use import LocalFiles
from harness.run import execute, journal
from harness.run.chosen_engine import ChosenEngine
from harness.run.interleave import EngineRun
from harness.run.record import assemble
from harness.run.request import RunRequest
from schemas.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEngine:
    """One engine's measurements, result file, and memory plans of arms that ran out of memory."""

    submission: Submission
    summary: Summary
    path: Path
    local_files: LocalFiles
    memory: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOnEngine:
    """The campaign on one engine, with its own work file."""

    request: RunRequest
    engine: ChosenEngine
    campaign: Campaign

    @property
    def work_file(self) -> Path:
        return journal.path_of(self.campaign)

    def by_blocks(self, display: ProgressDisplay, pause: Pause) -> EngineRun:
        """Measure, with a pause after every pass or answer."""
        context = execute.RunContext(
            machine=machine(),
            snapshot=Watch().snapshot,
            commit=commit(),
            observe=partial(display, name=self.engine.name),
            pause=pause,
            compares=len({each.connection for each in self.request.engines}) > 1,
        )
        return execute.by_blocks(
            self.campaign,
            runner=self.engine.adapter().open,
            context=context,
            work_file=self.work_file,
            resume=self.request.result.resume,
        )

    def so_far(self) -> Submission:
        """Return the result so far from the work file, while the run waits."""
        facts = journal.read(self.work_file)
        return assemble(self.campaign, facts, machine=machine(), part_s=0, ended="completed")

    def write(self, submission: Submission) -> MeasuredEngine:
        """Write the result; the work file is deleted unless the run can be resumed."""
        path = self.request.write(submission)
        if kept := self.request.result.keep_answers:
            features.part("kept answers").keep(kept, self.campaign, journal.read(self.work_file))
        arms = {arm.id: arm for arm in self.campaign.arms}
        if submission.design.ended in ("completed", "precise-enough"):
            journal.remove(self.work_file)
        return MeasuredEngine(
            submission=submission,
            summary=summarize(submission),
            path=path,
            local_files=LocalFiles(files=self.campaign.files(), server=self.engine.server()),
            memory={
                arm.id: lines
                for arm in submission.arms
                if arm.reason == "out-of-memory" and (lines := self.planned(arms[arm.id]))
            },
        )

    def planned(self, arm: ArmPlan) -> tuple[str, ...]:
        """Return the memory plan of an arm that ran out of memory."""
        settings, files = self.campaign.settings, self.campaign.files()
        target = files.get(self.campaign.target.model.id)
        if target is None:
            return ()
        setting = Setting(
            context=settings.context_tokens * arm.concurrency,
            slots=arm.concurrency,
            ubatch=settings.batch_tokens,
            kv_k=settings.kv_type_k,
            kv_v=settings.kv_type_v,
            flash_attention=settings.flash_attention != "off",
        )
        return failed_allocation(
            target,
            files.get(arm.method.draft or ""),
            setting,
            layers=layers_of(arm, settings),
            draft_layers=settings.draft_gpu_layers,
        )
