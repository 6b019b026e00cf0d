"""Execute a run: alternate the engines, write a result file for each, print the reports."""

import os
import re
from collections.abc import Collection, Mapping
from contextlib import nullcontext

import typer

from harness import PROGRAM, console
from harness.campaign.model import Pause
from harness.campaign.trial_order import engine_orders
from harness.errors import INTERRUPTED, HarnessError, MachineError
from harness.files import only_one
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE
from harness.report.progress import ProgressDisplay
from harness.run import journal, next_step, run_reports
from harness.run.engine_run import MeasuredEngine, RunOnEngine
from harness.run.interleave import NotStartedError, all_fit, interleave
from harness.run.request import RunRequest
from harness.run.time_limit import JointEnd, blocks_named, budget_for, too_short
from harness.runners.failures import reason_in
from planner.presets import DEFAULT_TARGET
from schemas.submission import Submission


def measure(request: RunRequest) -> None:
    """Measure, write the result, print its report; exit with a failure's code."""
    measured, _ = measured_interleaved(request)
    (run,) = measured.values()
    run_reports.print_result(run, request.result)
    if step := next_step.after(request, run):
        console.say(step)
    if run.submission.design.ended == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if nothing_drafted(run.submission):
        trials = run.submission.trials
        failed = dict.fromkeys(f"{each.arm} ({each.reason})" for each in trials if each.reason)
        console.say(
            f"Error: nothing to compare: {', '.join(failed)}; the lines above give the reason"
        )
        raise typer.Exit(MachineError.exit_code)


def measured_interleaved(
    request: RunRequest, end: JointEnd | None = None
) -> tuple[dict[str, MeasuredEngine], dict[str, HarnessError]]:
    """Return each engine's result with its file, and the errors of engines that failed.

    If `end` compares the engines, the first failure ends all of them, and they alternate after
    every answer if their models fit into memory together. Raises the error of a single engine.
    """
    request.check()
    campaigns = request.campaigns(fetch=True)
    runs = {
        each.name: RunOnEngine(request=request, engine=each, campaign=campaigns[each.name])
        for each in request.engines
    }
    limit_s = next(iter(campaigns.values())).stopping.budget_s
    end = end or JointEnd(budget_s=limit_s)
    ended = _together(request, runs, end)
    _require_figures(end, ended.values())
    measured: dict[str, MeasuredEngine] = {}
    errors = {name: each for name, each in ended.items() if isinstance(each, HarnessError)}
    for name, outcome in ended.items():
        if isinstance(outcome, Submission):
            measured[name] = runs[name].write(outcome)
            continue
        if reason_in(str(outcome)) == "out-of-memory":
            target = request.options.target or DEFAULT_TARGET
            console.say(f"`{PROGRAM} plan {target}` shows which layers, context and draft fit.")
        if len(ended) == 1:
            raise KeyboardInterrupt if isinstance(outcome, NotStartedError) else outcome
        if not isinstance(outcome, NotStartedError):  # another engine's error ended it
            console.say(f"Error: {name}: {outcome}")
    return measured, errors


def _together(
    request: RunRequest, runs: Mapping[str, RunOnEngine], end: JointEnd
) -> dict[str, Submission | HarnessError]:
    """Run the engines and return each one's outcome; rename earlier work files unless resuming."""
    campaigns = [run.campaign for run in runs.values()]
    expected = end.expected(campaigns)
    if expected is not None:
        console.say(f"This takes about {expected.span}.")
    if look := next_step.first_look(request, expected):
        console.say(look)
    for run in () if request.result.resume else runs.values():
        journal.make_way(run.work_file, say=console.say)
    shown = ProgressDisplay(console.progress_console(), expected=expected, most_s=end.budget_s)
    # An earlier run must first free the device of this fleet worker.
    device = re.sub("[^A-Za-z0-9-]", "-", os.environ.get(OWN_DEVICE, ""))
    left = only_one(f"device-{device}") if device else nullcontext()
    with console.interruptible(), left, shown as display:
        at_answers = len(runs) == 1 or (end.compares and all_fit(campaigns, machine()))
        pause: Pause = "answer" if at_answers else "pass"
        orders = engine_orders(campaigns[0], tuple(runs), pause)
        started = {name: run.by_blocks(display, pause) for name, run in runs.items()}
        return interleave(
            started, orders, needs_all=end.compares, stop=end.after_answers(runs, display.remaining)
        )


def _require_figures(end: JointEnd, ended: Collection[Submission | HarnessError]) -> None:
    """Raise `BadInputError` if the time limit left no figures to compare."""
    found = [each for each in ended if isinstance(each, Submission)]
    if end.budget_s is None or end.least_s is None or len(found) < len(ended):
        return
    if end.compares or all(map(nothing_drafted, found)):
        more = next_step.resume_command(next_step.RESUME, "--budget", budget_for(end.least_s))
        pace, what = "at the pace of its first answers", blocks_named(end.least_blocks)
        raise too_short(end.budget_s, what, end.least_s, pace, f"continue with {more}")


def nothing_drafted(submission: Submission) -> bool:
    """Whether there were arms that draft but none of them finished a trial."""
    drafting = {arm.id for arm in submission.arms if arm.role == "speculation"}
    finished = {trial.arm for trial in submission.trials if trial.outcome == "ok"}
    return bool(drafting) and not drafting & finished
