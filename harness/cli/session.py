"""Carries out a run, or prints its plan: every engine, the results, the reports."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self

import typer
from rich.console import Console

from estimates.model import Summary
from estimates.plan.model import Setting
from estimates.summary import summarize, to_json
from harness.campaign.duration import Expected, in_turns
from harness.campaign.model import ArmPlan, Campaign, Pause, layers_of
from harness.campaign.plan import engine_turns
from harness.cli import console
from harness.cli.request import ResultOptions, RunRequest
from harness.errors import INTERRUPTED, HarnessError, MachineError
from harness.files import only_one
from harness.machine.checkout import commit
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE
from harness.machine.environment import Watch
from harness.machine.rate import this_machine
from harness.plan.run_check import failed_allocation
from harness.report import brief, progress, words
from harness.report.progress import ProgressDisplay
from harness.report.terminal import compared, show
from harness.run import execute, journal
from harness.run import result_file as results
from harness.run.turns import EngineRun, NotStartedError, all_fit, in_turn
from harness.runners.base import Runner
from harness.runners.failures import is_out_of_memory
from schemas.codec import Json
from schemas.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one engine measured, and the path of its file.

    `memory` compares arms that found no memory with their plan.
    """

    submission: Submission
    summary: Summary
    path: Path
    files: Mapping[str, Path]
    memory: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        return self.submission.design.ended == "interrupted"


def measure(request: RunRequest) -> None:
    """Measure, write a result for each engine, print the reports."""
    measured, errors = measured_in_turn(request)
    _print(measured, errors, request.result)
    _exit(measured.values(), errors.values())


def measured_in_turn(
    request: RunRequest, *, needs_all: bool = False, together: bool = False
) -> tuple[dict[str, "Measured"], dict[str, HarnessError]]:
    """What every engine measured, with a result file each, and why the others did not.

    With `needs_all` the first engine that fails ends the others. With `together` they take turns
    after every answer where the memory has room for all of them.

    Raises the error of an engine that is the only one.
    """
    request.check()
    if not request.result.resume:  # a resumed run writes the same result again, with more in it
        results.require_free(request.result.output)
    runs = _runs(request)
    campaigns = [run.campaign for run in runs.values()]
    shown = ProgressDisplay(console.progress_console(), expected=_say_expected(campaigns))
    with console.heard(), _own_device(), shown as display:
        pause: Pause = "answer" if together and all_fit(campaigns, machine()) else "pass"
        turns = engine_turns(campaigns[0], tuple(runs), pause)
        started = {name: run.by_blocks(display, pause) for name, run in runs.items()}
        ended = in_turn(started, turns, needs_all=needs_all)
    measured: dict[str, Measured] = {}
    for name, outcome in ended.items():
        if isinstance(outcome, HarnessError) and is_out_of_memory(str(outcome)):
            for line in runs[name].planned(runs[name].campaign.arms[0]):
                console.say(line)
        if not isinstance(outcome, HarnessError):
            measured[name] = runs[name].write(outcome)
        elif isinstance(outcome, NotStartedError) and len(ended) == 1:
            raise KeyboardInterrupt
        elif len(ended) == 1:
            raise outcome
        else:
            console.say(f"Error: {name}: {outcome}")
    errors = {name: each for name, each in ended.items() if isinstance(each, HarnessError)}
    return measured, errors


@contextmanager
def _own_device() -> Iterator[None]:
    """Wait until an earlier run has left the device that a fleet's worker owns."""
    device = os.environ.get(OWN_DEVICE)
    if device is None:
        yield
        return
    with only_one(f"device-{re.sub('[^A-Za-z0-9-]', '-', device)}"):
        yield


def _exit(measured: Iterable[Measured], errors: Iterable[HarnessError]) -> None:
    """End with the code that tells what went wrong, if anything did."""
    found = [*measured]
    if any(each.interrupted for each in found):
        raise typer.Exit(INTERRUPTED)
    for error in errors:
        raise typer.Exit(error.exit_code)
    if any(nothing_drafted(each.submission) for each in found):
        console.say("Error: every arm that drafts failed; `python -m harness doctor` may help")
        raise typer.Exit(MachineError.exit_code)


def nothing_drafted(submission: Submission) -> bool:
    """Whether there were arms that draft, and none of them finished a trial."""
    drafting = {arm.id for arm in submission.arms if arm.role == "speculation"}
    finished = {trial.arm for trial in submission.trials if trial.outcome == "ok"}
    return bool(drafting) and not drafting & finished


def _say_expected(campaigns: Sequence[Campaign]) -> Expected | None:
    """Say how long all of it takes; `None` where it is not known."""
    found = in_turns(campaigns, this_machine(campaigns[0].settings.threads))
    if found is not None:
        console.say(f"This takes about {words.seconds(found.seconds)}.")
    return found


def _print(
    measured: Mapping[str, Measured], errors: Mapping[str, HarnessError], asked: ResultOptions
) -> None:
    """The results for people, or as JSON: one summary, or one for each engine."""
    if asked.json:
        summaries = {name: to_json(each.summary) for name, each in measured.items()}
        console.print_json(summaries.get("", {"engines": summaries}))
    else:
        screen = console.result_console()
        for name, each in measured.items():
            if name:
                screen.rule(name, align="left")
            brief.show(each.submission, each.summary, screen, path=each.path, files=each.files)
            _print_memory(each.memory, screen)
            if asked.details:
                screen.print()
                show(each.submission, each.summary, screen)
        if len(measured) + len(errors) > 1 and measured:
            screen.rule()
            engines = {name: (each.submission, each.summary) for name, each in measured.items()}
            failed = {name: str(error) for name, error in errors.items()}
            for line in compared(engines, failed):
                screen.print(line, soft_wrap=True, markup=False)
    for each in measured.values():
        console.say(f"Result: {each.path}")


def _print_memory(failed: Mapping[str, tuple[str, ...]], screen: Console) -> None:
    for arm, lines in failed.items():
        screen.print()
        screen.print(f"{arm} found no memory:", markup=False)
        for line in lines:
            screen.print(f"  {line}", soft_wrap=True, markup=False)


def _runs(request: RunRequest) -> dict[str, "_Run"]:
    runners = {each.name: each.engine.runner() for each in request.engines}
    return {
        name: _Run.of(request, campaign, runner=runners[name], name=name)
        for name, campaign in request.campaigns(fetch=True).items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The campaign on one engine, with a work file of its own."""

    request: RunRequest
    name: str
    campaign: Campaign
    runner: Runner
    work_file: Path

    @classmethod
    def of(cls, request: RunRequest, campaign: Campaign, *, runner: Runner, name: str) -> Self:
        """The run, with an earlier work file moved out of its way unless it is resumed."""
        work_file = journal.path_of(campaign)
        if not request.result.resume:
            journal.make_way(work_file, say=console.say)
        return cls(
            request=request, name=name, campaign=campaign, runner=runner, work_file=work_file
        )

    def by_blocks(self, display: ProgressDisplay, pause: Pause) -> EngineRun:
        """Measure, with a pause after every pass or answer."""
        context = execute.RunContext(
            machine=machine(),
            snapshot=Watch().snapshot,
            commit=commit(),
            observe=partial(display, name=self.name),
            pause=pause,
        )
        return execute.by_blocks(
            self.campaign,
            runner=self.runner,
            context=context,
            work_file=self.work_file,
            resume=self.request.result.resume,
        )

    def write(self, submission: Submission) -> Measured:
        """Write the result; the work file is deleted unless the run can be resumed."""
        given = self.request.contribution
        submission = replace(submission, contributor=given.contributor, notes=given.notes)
        path = results.write(submission, self.request.result.output)
        match submission.design.ended:
            case "completed" | "precise-enough":
                self.work_file.unlink(missing_ok=True)
            case "budget-spent":
                console.say(
                    "The time limit was reached. To continue, repeat the command with --resume "
                    "and a higher --budget."
                )
            case "interrupted":
                console.say(
                    "The run was interrupted. To continue, repeat the command with --resume."
                )
        return Measured(
            submission=submission,
            summary=summarize(submission),
            path=path,
            files=self.campaign.files(),
            memory=dict(self._without_memory(submission)),
        )

    def _without_memory(self, submission: Submission) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each arm that found no memory, with what its plan says about that."""
        arms = {arm.id: arm for arm in self.campaign.arms}
        for failed in submission.arms:
            lines = self.planned(arms[failed.id]) if failed.reason == "out-of-memory" else ()
            if lines:
                yield failed.id, lines

    def planned(self, arm: ArmPlan) -> tuple[str, ...]:
        """What the plan says about an arm that found no memory."""
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


def print_plan(request: RunRequest) -> None:
    """Print what would run, and for how long. It fetches nothing, and refuses what a run would."""
    request.check()
    campaigns = request.campaigns(fetch=False)
    campaign = next(iter(campaigns.values()))
    commands = {each.name: each.engine.commands(campaigns[each.name]) for each in request.engines}
    estimate = in_turns([*campaigns.values()], this_machine(campaign.settings.threads))
    if request.result.json:
        listed: Json = {name: list(lines) for name, lines in commands.items() if lines}
        console.print_json({**progress.as_json(campaign, estimate), "commands": listed})
        return
    screen = console.result_console()
    for line in progress.lines(campaign, estimate):
        screen.print(line)
    for name, lines in commands.items():
        if lines:
            screen.print(f"{name or 'starts'}", style="dim")
        for line in lines:
            # Unwrapped, so that it can be copied.
            screen.print(f"  {line}", soft_wrap=True, markup=False)
