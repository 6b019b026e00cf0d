"""Measure a command's campaign block by block on one engine, and write its result file."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from estimates.model import Summary
from estimates.summary import summarize
from harness.campaign.model import Campaign, Pause
from harness.machine.checkout import commit
from harness.machine.detect import machine
from harness.machine.environment import Watch
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
    """One engine's measurements, and the result file."""

    submission: Submission
    summary: Summary
    path: Path
    local_files: LocalFiles


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
            compares=len(self.request.engines) > 1,
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
        if submission.design.ended in ("completed", "precise-enough"):
            journal.remove(self.work_file)
        return MeasuredEngine(
            submission=submission,
            summary=summarize(submission),
            path=path,
            local_files=LocalFiles(files=self.campaign.files(), server=self.engine.server()),
        )
