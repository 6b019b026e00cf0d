"""`draftmap compare`: check whether an engine change made speculation slower or answers worse."""

from dataclasses import replace
from typing import Annotated

from harness import console
from harness.campaign.options import Options
from harness.command_options import Says, Without, offers_fields
from harness.compare import check_reference, compare_builds
from harness.compare.options import BLOCKS, Builds
from harness.errors import BadInputError
from harness.run import run_reports
from harness.run.chosen_engine import at_depths
from harness.run.request import ResultOptions, RunRequest
from harness.runners.options import ConnectionOptions

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

    reference = check_reference.read(builds.reference) if builds.reference else None
    if result.dry_run:
        run_reports.print_plan(request, 60 * minutes)
    elif builds.reference is not None:
        check_reference.check_reference(
            request, builds.reference, builds, reference, budget_s=60 * minutes
        )
    else:
        compare_builds.compare_builds(request, builds, budget_s=60 * minutes)


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
