"""Carries out a run: every engine in turn, a result file for each, the reports."""

import math
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise

import typer

from harness import console
from harness.campaign.duration import Expected, in_turns
from harness.campaign.model import Campaign, Pause
from harness.campaign.trial_order import engine_orders, plan
from harness.errors import INTERRUPTED, HarnessError, MachineError
from harness.files import only_one
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE
from harness.machine.rate import this_machine
from harness.report import words
from harness.report.progress import ProgressDisplay
from harness.run import journal, month, next_step, run_reports
from harness.run import result_file as results
from harness.run.engine_run import MeasuredEngine, RunOnEngine
from harness.run.interleave import JointStop, NotStartedError, all_fit, interleave
from harness.run.request import RunRequest
from harness.run.stopping import Early
from harness.runners.failures import is_out_of_memory
from schemas.submission import Submission

# For each engine: loading and warming up are then a smaller part of the time.
_FIRST_ANSWERS = 4


def measure(request: RunRequest) -> None:
    """Measure, write a result for each engine, print the reports; exit with what failed."""
    measured, errors = measured_interleaved(request)
    run_reports.print_results(measured, errors, request.result)
    for step in dict.fromkeys(next_step.after(request, each) for each in measured.values()):
        if step is not None:
            console.say(step)
    if request.result.month and not request.result.json:
        for each in measured.values():
            typer.echo(month.line(each.submission, each.summary))
    if any(each.submission.design.ended == "interrupted" for each in measured.values()):
        raise typer.Exit(INTERRUPTED)
    for error in errors.values():
        raise typer.Exit(error.exit_code)
    if any(nothing_drafted(each.submission) for each in measured.values()):
        trials = (trial for each in measured.values() for trial in each.submission.trials)
        failed = dict.fromkeys(f"{each.arm} ({each.reason})" for each in trials if each.reason)
        console.say(f"Error: nothing to compare: {', '.join(failed)}; its lines above say why")
        raise typer.Exit(MachineError.exit_code)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointEnd:
    """When engines that are compared end together, after a block that all of them finished.

    `enough` says whether more blocks would change nothing; `budget_s` is a limit in seconds.
    """

    enough: Callable[[Mapping[str, Submission]], bool]
    budget_s: float

    def after_blocks(self, runs: Mapping[str, RunOnEngine]) -> JointStop:
        """Decide between two blocks; the first always runs."""
        campaign = next(iter(runs.values())).campaign
        planned = plan(campaign)
        borders = {trial.order for last, trial in pairwise(planned) if last.block < trial.block}
        began_s, passed = time.monotonic(), set[int]()
        first = min(_FIRST_ANSWERS, min(borders, default=0))

        def stop(position: int) -> Early | None:
            if first and position == first:
                whole_s = (time.monotonic() - began_s) * len(planned) / position
                _say_too_long(whole_s, self.budget_s, campaign.blocks)
            if position not in borders:
                return None
            passed.add(position)
            if self.enough({name: run.so_far() for name, run in runs.items()}):
                return "precise-enough"
            next_ends_s = (time.monotonic() - began_s) * (len(passed) + 1) / len(passed)
            return "budget-spent" if next_ends_s > self.budget_s else None

        return stop


def _say_too_long(whole_s: float, budget_s: float, blocks: int) -> None:
    """Say how many blocks fit into the budget at the pace of the first answers, if not all do."""
    fit = max(1, int(blocks * budget_s / whole_s))
    if fit < blocks:
        console.say(
            f"At the pace of the first answers {fit} of {blocks} blocks fit into "
            f"{words.seconds(budget_s)}, and intervals may stay wide; all of them take about "
            f"{words.seconds(whole_s)}: --budget {math.ceil(whole_s / 60)}."
        )


def measured_interleaved(
    request: RunRequest,
    *,
    needs_all: bool = False,
    alternate_answers: bool = False,
    joint_end: JointEnd | None = None,
) -> tuple[dict[str, MeasuredEngine], dict[str, HarnessError]]:
    """What every engine measured, with a result file each, and why the others did not.

    With `needs_all` the first engine that fails ends the others. With `alternate_answers` they
    take turns after every answer where the memory has room for all of them. `joint_end` may end
    all of them early.

    Raises the error of an engine that is the only one.
    """
    request.check()
    if not request.result.resume:  # a resumed run writes the same result again, with more in it
        results.require_free(request.result.output)
    runs = _runs(request)
    campaigns = [run.campaign for run in runs.values()]
    most_s = joint_end.budget_s if joint_end else None
    expected = _say_expected(campaigns, most_s)
    most_s = most_s or campaigns[0].stopping.budget_s
    shown = ProgressDisplay(console.progress_console(), expected=expected, most_s=most_s)
    # An earlier run must have left the device that a fleet's worker owns.
    device = re.sub("[^A-Za-z0-9-]", "-", os.environ.get(OWN_DEVICE, ""))
    left = only_one(f"device-{device}") if device else nullcontext()
    with console.interruptible(), left, shown as display:
        pause: Pause = "answer" if alternate_answers and all_fit(campaigns, machine()) else "pass"
        orders = engine_orders(campaigns[0], tuple(runs), pause)
        started = {name: run.by_blocks(display, pause) for name, run in runs.items()}
        more = {"stop": joint_end.after_blocks(runs)} if joint_end else {}
        ended = interleave(started, orders, needs_all=needs_all, **more)
    measured: dict[str, MeasuredEngine] = {}
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


def nothing_drafted(submission: Submission) -> bool:
    """Whether there were arms that draft, and none of them finished a trial."""
    drafting = {arm.id for arm in submission.arms if arm.role == "speculation"}
    finished = {trial.arm for trial in submission.trials if trial.outcome == "ok"}
    return bool(drafting) and not drafting & finished


def _say_expected(campaigns: Sequence[Campaign], most_s: float | None) -> Expected | None:
    """Say how long all of it takes; `None` where it is not known."""
    found = in_turns(campaigns, this_machine(campaigns[0].settings.threads), most_s)
    if found is not None:
        console.say(f"This takes about {words.seconds(found.seconds)}.")
    return found


def _runs(request: RunRequest) -> dict[str, RunOnEngine]:
    """The campaign on each engine; earlier work is moved out of the way unless it is resumed."""
    campaigns = request.campaigns(fetch=True)
    runs = {
        each.name: RunOnEngine(request=request, engine=each, campaign=campaigns[each.name])
        for each in request.engines
    }
    for run in () if request.result.resume else runs.values():
        journal.make_way(run.work_file, say=console.say)
    return runs
