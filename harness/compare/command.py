"""`draftmap compare`: check whether an engine change made speculation slower or answers worse."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, cast

import typer

from harness import console
from harness.campaign.options import Options
from harness.command_options import Says, Without, offers_fields
from harness.compare import comparison, reference, report
from harness.compare.options import BLOCKS, Builds
from harness.errors import INTERRUPTED, INVALID_ANSWERS, NO, NOT_MEASURED, BadInputError
from harness.files import written
from harness.run import run_command, run_reports
from harness.run.chosen_engine import at_depths
from harness.run.next_step import RESUME, resume_command
from harness.run.request import ResultOptions, RunRequest
from harness.run.time_limit import JointEnd
from harness.runners.options import ConnectionOptions
from schemas.codec import Json, encode
from schemas.submission import Submission

_EXIT_CODES = {"slower": NO, "failed": NOT_MEASURED, "invalid-answers": INVALID_ANSWERS}

_SAME_BLOCKS = 2  # for a reference: two blocks show whether an engine repeats its answers
_MAX_TOKENS = 48
_MINUTES, _QUICK_MINUTES = 15.0, 5.0
# The shortest prompt of each task, so that answers take most of the time, and a long prompt to time
# prefill.
_QUICK_PROMPTS = (
    *("code-log-script", "json-quiz"),
    *("summarization-incident-queue", "creative-snail-post"),
)
_PROMPTS = (
    *_QUICK_PROMPTS,
    *("math-root-proof", "reasoning-three-jugs", "chat-rainy-holiday"),
    "translation-en-it-proverbs",
)
_OWN_DEFAULTS = Says(
    {
        "budget_min": f"Time limit for the whole command. Default: {_MINUTES:g}; "
        f"{_QUICK_MINUTES:g} with --quick.",
        "quick": f"Use half of the prompts and a time limit of {_QUICK_MINUTES:g} minutes.",
        "max_output_tokens": f"Maximum output length in tokens. Default: {_MAX_TOKENS}.",
        "blocks": "Maximum number of blocks (a block is one pass over all prompts and arms). "
        f"Default: {BLOCKS}; {_SAME_BLOCKS} for a --reference.",
    }
)
_BY_COMMANDS = Without(
    frozenset({"base_url", "spec_base_urls", "server_command", "spec_server_commands"})
)


@console.reports_errors
@offers_fields
def compare(
    builds: Builds,
    options: Annotated[Options, _OWN_DEFAULTS],
    connection: Annotated[ConnectionOptions, _BY_COMMANDS],
    result: Annotated[ResultOptions, Without(frozenset({"month", "keep_answers"}))],
) -> None:
    """The two builds run the same prompts alternately, in random order, on fresh servers.

    By default, a comparison uses one prompt per task (one is long) and answers of 48 tokens.
    It takes at most 15 minutes, and ends earlier once every interval is within 2 %. Exit codes:
    0 no arm is clearly slower with head, 1 an arm is clearly slower, 3 something could not be
    measured, 4 head gives invalid answers and base does not. A busy machine makes intervals wider,
    not wrong.

    - `python -m harness compare --base old/llama-server --head new/llama-server`

    - `python -m harness compare --base a --head b --target qwen3-8b --method draft-model:n_max=4`

    - `python -m harness compare --target NAME --base-command 'old/bin/vllm serve NAME --port
    {port}' --head-command 'new/bin/vllm serve NAME --port {port}'`

    - `python -m harness compare --head new/llama-server --reference tokens-per-round.json`
    """
    builds.check()
    minutes = options.budget_min or (_QUICK_MINUTES if options.quick else _MINUTES)
    if len(options.context_depth_tokens) > 1:
        raise BadInputError(
            "a comparison uses a single context depth; give --context-depth one number"
        )
    request = RunRequest(
        options=_defaults(options, _SAME_BLOCKS if builds.reference else BLOCKS),
        engines=at_depths(builds.engines(options, connection), options.context_depth_tokens),
        result=result,
    )
    expected = reference.read(builds.reference) if builds.reference else None
    if result.dry_run:
        run_reports.print_plan(request, 60 * minutes)
    elif builds.reference is not None:
        reference.check_run(request, builds.reference, builds, expected, budget_s=60 * minutes)
    else:
        _compare(request, builds, budget_s=60 * minutes)


def _defaults(options: Options, blocks: int) -> Options:
    """Return the options with the defaults of a comparison; the budget covers both builds."""
    if options.precision is not None:
        raise BadInputError("a comparison ends after --budget or --blocks; leave out --precision")
    prompts = options.prompts
    if not (options.suite or options.tasks or prompts):
        prompts = _QUICK_PROMPTS if options.quick else _PROMPTS
    return replace(
        options,
        blocks=options.blocks or blocks,
        prompts=prompts,
        max_output_tokens=options.max_output_tokens or _MAX_TOKENS,
        budget_min=None,
        quick=False,
    )


def _compare(request: RunRequest, builds: Builds, *, budget_s: float) -> None:
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
