"""Run a comparison: alternate both builds, print the verdict, exit with a code for CI."""

from collections.abc import Mapping
from typing import cast

import typer

from harness import console
from harness.compare import comparison, report
from harness.compare.options import BLOCKS, Builds
from harness.errors import INTERRUPTED, INVALID_ANSWERS, NO, NOT_MEASURED
from harness.files import written
from harness.run import run_command
from harness.run.next_step import RESUME, resume_command
from harness.run.request import RunRequest
from harness.run.time_limit import JointEnd
from schemas.codec import Json, encode
from schemas.submission import Submission

_EXIT_CODES = {"slower": NO, "failed": NOT_MEASURED, "invalid-answers": INVALID_ANSWERS}


def compare_builds(request: RunRequest, builds: Builds, *, budget_s: float) -> None:
    """Measure both builds and print the differences. Exits with the verdict's code."""
    joint = JointEnd(
        enough=lambda so_far: comparison.compare(so_far["base"], so_far["head"]).is_precise,
        budget_s=budget_s,
    )
    measured, errors = run_command.measured_interleaved(request, joint)
    submissions = {name: build.submission for name, build in measured.items()}
    verdict = "failed" if errors else _print(builds, submissions, as_json=request.result.json)
    ended = [build.design.ended for build in submissions.values()]
    ended += ["interrupted" for error in errors.values() if error.exit_code == INTERRUPTED]
    interrupted = len(ended) == len(request.engines) and "interrupted" in ended
    if interrupted:
        console.say(f"Next, at most {budget_s / 60:g} min: {resume_command(RESUME)}")
    elif verdict == "unclear":
        # Suggest twice the budget, on top of the time that was measured before the budget ran out.
        longer, blocks = f"{budget_s / 30:g}", 2 * (request.options.blocks or BLOCKS)
        more = RESUME if "budget-spent" in ended else f"--blocks={blocks}"
        console.say(f"Next, at most {longer} min: {resume_command('--budget', longer, more)}")
    if code := INTERRUPTED if interrupted else _EXIT_CODES.get(verdict, 0):
        raise typer.Exit(code)


def _print(builds: Builds, measured: Mapping[str, Submission], *, as_json: bool) -> str:
    """Print the comparison and return its verdict."""
    bound = builds.fail_below or comparison.FAIL_BELOW
    found = comparison.compare(measured["base"], measured["head"], fail_below=bound)
    if builds.markdown is not None:
        with written(builds.markdown) as part:
            part.write_text(report.markdown(found), "utf-8")
    if as_json:
        console.print_json({"verdict": found.verdict} | cast("dict[str, Json]", encode(found)))
    else:
        console.print_lines(report.lines(found))
    return found.verdict
