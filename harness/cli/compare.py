"""`draftmap compare`: did a change of the engine make speculation slower, or its answers worse?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from harness.campaign.options import Options
from harness.cli import console
from harness.cli.engines import ChosenEngine
from harness.cli.options import Without, offers_fields
from harness.cli.request import ResultOptions, RunRequest
from harness.errors import (
    INTERRUPTED,
    INVALID_ANSWERS,
    NO,
    NOT_MEASURED,
    BadInputError,
)
from harness.options import option
from harness.runners.options import ConnectionOptions
from schemas.submission import Submission

# Many short blocks: on a shared machine eight leave one comparison of four unclear, sixteen one of
# a hundred (`python -m bench.builds`).
BLOCKS = 16
_SAME_BLOCKS = 2  # for a reference: they show whether an engine repeats itself
_MAX_TOKENS = 48
_MINUTES, _QUICK_MINUTES = 15.0, 5.0
# The shortest of each task, so that answers take the time, but for one that is long to read.
_QUICK_PROMPTS = (
    *("code-log-script", "json-quiz"),
    *("summarization-incident-queue", "creative-snail-post"),
)
_PROMPTS = (
    *_QUICK_PROMPTS,
    *("math-root-proof", "reasoning-three-jugs", "chat-rainy-holiday"),
    "translation-en-it-proverbs",
)
_EXIT_CODES = {"slower": NO, "failed": NOT_MEASURED, "invalid-answers": INVALID_ANSWERS}
_BY_COMMANDS = Without(
    frozenset({"base_url", "spec_base_urls", "server_command", "spec_server_commands"})
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    base: str | None = option("The llama-server before the change.", metavar="BINARY")
    head: str | None = option("The llama-server with the change.", metavar="BINARY")
    base_commands: tuple[str, ...] = option(
        "Instead of --base, for any server with OpenAI's protocol: the command that starts it "
        "without speculation, '… --port {port}'; once more for each --method with it.",
        name="base-command",
        metavar="COMMAND",
        default=(),
    )
    head_commands: tuple[str, ...] = option(
        "Instead of --head: the same of the server with the change.",
        name="head-command",
        metavar="COMMAND",
        default=(),
    )
    reference: Path | None = option(
        "In the place of base: a file with the tokens per round of each task. It is written "
        "where there is none, else head is checked against it, on however busy a machine.",
        metavar="FILE",
    )
    fail_below: float | None = option(
        "What is too slow, as a fraction of base: it fails where writing, reading the prompt or "
        "whole requests are below it with 98 % confidence. Default: 0.99; 0.95 for the tokens "
        "per round of a --reference.",
        metavar="FRACTION",
        least=0.1,
        most=1,
    )
    markdown: Path | None = option(
        "Also write the comparison as a comment for a pull request.", metavar="FILE"
    )

    def engines(self, options: Options, connection: ConnectionOptions) -> tuple[ChosenEngine, ...]:
        """The builds by name. Raises `HarnessError` where one cannot be used."""
        binaries, commands = self.base or self.head, self.base_commands or self.head_commands
        message = None
        if binaries and commands:
            message = "give binaries (--base, --head) or commands, not both"
        elif self.reference and (self.base or self.base_commands):
            message = "--reference takes the place of base; give --head or --head-command alone"
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
        """Raise `BadInputError` where the table cannot be written."""
        if self.markdown is None:
            return
        if self.markdown.is_dir():
            message = f"{self.markdown} is a folder; name a file in it with --markdown"
            raise BadInputError(message)
        from harness.run.result_file import require_writable  # noqa: PLC0415 - slow to import

        require_writable(self.markdown.parent)

    def _started(self, name: str, path: str | None, connection: ConnectionOptions) -> ChosenEngine:
        if path is None:
            message = f"name the build: --{name} BINARY, or --{name}-command COMMAND"
            raise BadInputError(message)
        if given := connection.given_for_servers():
            message = f"{given[0]} is for --base-command and --head-command"
            raise BadInputError(message)
        from harness.runners.llama_server.binary import find  # noqa: PLC0415 - slow to import

        try:
            find(path)
        except BadInputError as error:
            raise BadInputError(str(error).replace("--server-binary", f"--{name}")) from error
        engine = replace(connection, binary=path)
        return ChosenEngine(runner="llama-server", name=name, connection=engine)

    def _commanded(
        self, name: str, commands: tuple[str, ...], options: Options, connection: ConnectionOptions
    ) -> ChosenEngine:
        from harness.runners.openai.endpoints import words  # noqa: PLC0415 - slow to import

        flag, needed = f"--{name}-command", 1 + len(options.methods)
        if len(commands) != needed:
            message = (
                f"{flag} is given {len(commands)} times and needed {needed} times: for the server "
                "without speculation, then for each --method, in their order"
            )
            raise BadInputError(message)
        for command in commands:
            words(command, option=flag)
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
    options: Options,
    connection: Annotated[ConnectionOptions, _BY_COMMANDS],
    result: ResultOptions,
) -> None:
    """Both builds answer the same prompts in turns, in random order, with a fresh server each time.

    Its defaults are a prompt of each task, one of them long, answers of 48 tokens, and at most 15
    minutes; it ends earlier once every interval is within 2 %. Exit code 1 means that an arm is
    clearly slower with head, 0 that none is, 3 that something could not be measured, 4 that answers
    of head are invalid where base's are not. A busy machine makes intervals wide, not wrong.

    - `python -m harness compare --base old/llama-server --head new/llama-server`

    - `python -m harness compare --base a --head b --target qwen3-8b --method draft-model:n_max=4`

    - `python -m harness compare --target NAME --base-command 'old/bin/vllm serve NAME --port
    {port}' --head-command 'new/bin/vllm serve NAME --port {port}'`

    - `python -m harness compare --head new/llama-server --reference tokens-per-round.json`
    """
    from harness.cli import reports, session  # noqa: PLC0415 - slow to import, not for the help
    from harness.cli.next_step import again  # noqa: PLC0415 - slow to import

    builds.check()
    budget_s = 60 * (options.budget_min or (_QUICK_MINUTES if options.quick else _MINUTES))
    defaults = _defaults(options, _SAME_BLOCKS if builds.reference else BLOCKS)
    engines = builds.engines(options, connection)
    request = RunRequest(options=defaults, engines=engines, result=result)
    if result.dry_run:
        reports.print_plan(request, budget_s)
        return
    if builds.reference is not None:
        from harness.cli.reference import check_reference  # noqa: PLC0415 - slow to import

        check_reference(request, builds.reference, builds.fail_below, builds.markdown)
        return
    joint = session.JointEnd(enough=_is_precise, budget_s=budget_s)
    measured, errors = session.measured_interleaved(
        request, needs_all=True, together=True, joint_end=joint
    )
    submissions = {name: each.submission for name, each in measured.items()}
    verdict = "failed"
    if not errors:
        both = submissions["base"], submissions["head"]
        verdict = _print(builds, *both, as_json=result.json)
    ended = [each.design.ended for each in submissions.values()]
    ended += ["interrupted" for each in errors.values() if each.exit_code == INTERRUPTED]
    interrupted = len(ended) == len(engines) and "interrupted" in ended
    if interrupted:
        console.say(f"Next, at most {budget_s / 60:g} min: {again('--resume')}")
    elif verdict == "unclear":
        longer, blocks = f"{budget_s / 30:g}", 2 * (options.blocks or BLOCKS)
        done = "--resume" if "budget-spent" in ended else f"--blocks={blocks}"
        console.say(f"Next, at most {longer} min: {again('--budget', longer, done)}")
    if code := INTERRUPTED if interrupted else _EXIT_CODES.get(verdict, 0):
        raise typer.Exit(code)


def _is_precise(so_far: Mapping[str, Submission]) -> bool:
    from estimates import builds as estimates  # noqa: PLC0415 - slow to import

    return estimates.compare(so_far["base"], so_far["head"]).is_precise


def _defaults(options: Options, blocks: int) -> Options:
    """The options with the defaults of a comparison; the budget is for both builds together."""
    if options.precision is not None:
        message = "a comparison ends by --budget or --blocks; leave out --precision"
        raise BadInputError(message)
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


def _print(builds: Builds, base: Submission, head: Submission, *, as_json: bool) -> str:
    """Print the comparison; returns its verdict."""
    from estimates import builds as estimates  # noqa: PLC0415 - slow to import
    from harness.files import written  # noqa: PLC0415 - slow to import
    from harness.report import builds as report  # noqa: PLC0415 - slow to import

    bound = builds.fail_below or estimates.FAIL_BELOW
    found = estimates.compare(base, head, fail_below=bound)
    if builds.markdown is not None:
        with written(builds.markdown) as part:
            part.write_text(report.markdown(found), "utf-8")
    if as_json:
        console.print_json(estimates.to_json(found))
    else:
        screen = console.result_console()
        for line in report.lines(found):
            screen.print(line, soft_wrap=True, markup=False)
    return found.verdict
