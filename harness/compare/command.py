"""`draftmap compare`: check whether an engine change made speculation slower or answers worse."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, cast

import typer

from harness import console
from harness.campaign.options import Options
from harness.command_options import Says, Without, offers_fields
from harness.compare import comparison, reference, report
from harness.errors import INTERRUPTED, INVALID_ANSWERS, NO, NOT_MEASURED, BadInputError
from harness.files import written
from harness.options import option
from harness.run import run_command, run_reports
from harness.run.chosen_engine import ChosenEngine
from harness.run.next_step import RESUME, resume_command
from harness.run.request import ResultOptions, RunRequest
from harness.run.result_file import require_writable
from harness.run.time_limit import JointEnd
from harness.runners.llama_server.binary import find
from harness.runners.options import ConnectionOptions
from harness.runners.server_command import command_words
from schemas.codec import Json, encode
from schemas.submission import Submission

_EXIT_CODES = {"slower": NO, "failed": NOT_MEASURED, "invalid-answers": INVALID_ANSWERS}

# Many short blocks: on a shared machine, one comparison in four is unclear after eight blocks, and
# one in a hundred after sixteen (`python -m bench.builds`).
BLOCKS = 16
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """The two builds or the commands that start them, and the slowdown that counts as a failure."""

    base: str | None = option(
        "The llama-server binary before the change.", metavar="BINARY", usual=True
    )
    head: str | None = option(
        "The llama-server binary with the change.", metavar="BINARY", usual=True
    )
    base_commands: tuple[str, ...] = option(
        "Instead of --base, for any OpenAI-compatible server: the command that starts it without "
        "speculation, '… --port {port}'. Repeat the option for each --method, with the command "
        "that starts the server with speculation.",
        name="base-command",
        metavar="COMMAND",
        default=(),
    )
    head_commands: tuple[str, ...] = option(
        "Instead of --head: the corresponding commands for the server with the change.",
        name="head-command",
        metavar="COMMAND",
        default=(),
    )
    reference: Path | None = option(
        "Instead of a base build: a file with the tokens per round of each task. If the file "
        "exists, head is checked against it; otherwise the file is written. This check also "
        "works on a busy machine.",
        metavar="FILE",
        usual=True,
    )
    fail_below: float | None = option(
        "Fail if head is below this fraction of base's speed (decoding, prompt processing or "
        "whole requests) with 98 % confidence. Default: 0.99; 0.95 for the tokens per round of a "
        "--reference.",
        metavar="FRACTION",
        such="0.99 or 99%",
        least=0.1,
        most=1,
    )
    markdown: Path | None = option(
        "Also write the comparison as a comment for a pull request.", metavar="FILE"
    )

    def engines(self, options: Options, connection: ConnectionOptions) -> tuple[ChosenEngine, ...]:
        """Return the engines to compare, by build. Raises `HarnessError` if one cannot be used."""
        binaries, commands = self.base or self.head, self.base_commands or self.head_commands
        message = None
        if binaries and commands:
            message = "give binaries (--base, --head) or commands, not both"
        elif self.reference and (self.base or self.base_commands):
            message = "--reference replaces the base build; give only --head or --head-command"
        if message:
            raise BadInputError(message)
        names = ("head",) if self.reference else ("base", "head")
        given = {"base": (self.base, self.base_commands), "head": (self.head, self.head_commands)}
        return tuple(
            self._commanded(name, given[name][1], options, connection)
            if commands
            else self._started(name, given[name][0], connection)
            for name in names
        )

    def check(self) -> None:
        """Raise `BadInputError` if the Markdown table cannot be written where the user wants it."""
        if self.markdown is None:
            return
        if self.markdown.is_dir():
            raise BadInputError(
                f"{self.markdown} is a folder; name a file in this folder with --markdown"
            )
        require_writable(self.markdown.parent)

    def _started(self, name: str, path: str | None, connection: ConnectionOptions) -> ChosenEngine:
        if path is None:
            raise BadInputError(f"name the build: --{name} BINARY, or --{name}-command COMMAND")
        if given := connection.given_for_servers():
            raise BadInputError(f"{given[0]} works only with --base-command and --head-command")
        find(path, option=f"--{name}")
        engine = replace(connection, binary=path)
        return ChosenEngine(runner="llama-server", name=name, connection=engine)

    def _commanded(
        self, name: str, commands: tuple[str, ...], options: Options, connection: ConnectionOptions
    ) -> ChosenEngine:
        flag, needed = f"--{name}-command", 1 + len(options.methods)
        if len(commands) != needed:
            raise BadInputError(
                f"{flag} is given {len(commands)} times, but is needed {needed} times: first for "
                "the server without speculation, then for each --method in order"
            )
        for command in commands:
            command_words(command, option=flag)
        plain, *speculating = commands
        engine = replace(
            connection,
            server_command=plain,
            spec_server_commands=tuple(speculating),
            plain_alone=not speculating,
        )
        return ChosenEngine(runner="openai", name=name, connection=engine)


@console.reports_errors
@offers_fields
def compare(
    builds: Builds,
    options: Annotated[Options, _OWN_DEFAULTS],
    connection: Annotated[ConnectionOptions, _BY_COMMANDS],
    result: ResultOptions,
) -> None:
    """The two builds run the same prompts alternately, in random order, on fresh servers.

    By default, a comparison uses one prompt per task (one is long) and answers of 48 tokens.
    It takes at most 15 minutes, or as long as six blocks need, and ends earlier once every interval
    is within 2 %. Exit codes: 0 no arm is clearly slower with head, 1 an arm is clearly slower, 3
    something could not be measured, 4 head gives invalid answers and base does not. A busy machine
    makes intervals wider, not wrong.

    - `python -m harness compare --base old/llama-server --head new/llama-server`

    - `python -m harness compare --base a --head b --target qwen3-8b --method draft-model:n_max=4`

    - `python -m harness compare --target NAME --base-command 'old/bin/vllm serve NAME --port
    {port}' --head-command 'new/bin/vllm serve NAME --port {port}'`

    - `python -m harness compare --head new/llama-server --reference tokens-per-round.json`
    """
    builds.check()
    joint = _end(options, to_reference=builds.reference is not None)
    request = RunRequest(
        options=_defaults(options, _SAME_BLOCKS if builds.reference else BLOCKS),
        engines=builds.engines(options, connection),
        result=result,
    )
    expected = reference.read(builds.reference) if builds.reference else None
    if result.dry_run:
        run_reports.print_plan(request, joint)
    elif builds.reference is not None:
        named, bound, markdown = builds.reference, builds.fail_below, builds.markdown
        reference.check_run(request, expected, named, bound, markdown, joint)
    else:
        _compare(request, builds, joint)


def _end(options: Options, *, to_reference: bool) -> JointEnd:
    minutes = options.budget_min or (_QUICK_MINUTES if options.quick else _MINUTES)
    return JointEnd(
        budget_s=60 * minutes,
        grows=options.budget_min is None,
        enough=lambda so_far: (
            not to_reference and comparison.compare(so_far["base"], so_far["head"]).is_precise
        ),
        least_blocks=1 if to_reference else comparison.FEWEST_BLOCKS,
    )


def _defaults(options: Options, blocks: int) -> Options:
    """Return the options with the defaults of a comparison; the budget covers both builds."""
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


def _compare(request: RunRequest, builds: Builds, joint: JointEnd) -> None:
    """Measure both builds and print the differences. Exits with the verdict's code."""
    measured, errors = run_command.measured_interleaved(request, joint)
    submissions = {name: build.submission for name, build in measured.items()}
    verdict = "failed" if errors else _print(builds, submissions, as_json=request.result.json)
    ended = [build.design.ended for build in submissions.values()]
    ended += ["interrupted" for error in errors.values() if error.exit_code == INTERRUPTED]
    budget_s = joint.budget_s or 0.0
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
