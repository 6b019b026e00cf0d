"""`draftmap compare`: did a change of the engine make speculation slower?"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from harness.campaign.build import SHORT_SUITE
from harness.campaign.options import Options
from harness.cli import console
from harness.cli.engines import ChosenEngine, named_engines
from harness.cli.options import offers_fields
from harness.cli.request import ResultOptions, RunRequest
from harness.errors import INTERRUPTED, BadInputError, HarnessError, MachineError, UsageError
from harness.files import written
from harness.options import REQUIRED, option
from harness.run import result_file
from harness.runners.llama_server.binary import find
from harness.runners.options import ConnectionOptions, Timeouts
from schemas.submission import Submission

# Many short blocks: on a shared machine eight leave one comparison of four unclear, sixteen one of
# a hundred (`python -m bench.builds`), and short prompts make them take no longer.
BLOCKS = 16
_MAX_TOKENS = 48
_EXIT_CODES = {"slower": 1, "failed": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    base: str = option("The llama-server before the change.", metavar="BINARY", default=REQUIRED)
    head: str = option("The llama-server with the change.", metavar="BINARY", default=REQUIRED)
    threshold: float = option(
        "The smallest change that counts, as a fraction. Default: 0.01 (1 %).",
        metavar="FRACTION",
        least=0,
        most=0.5,
        default=0.01,
    )
    one_at_a_time: bool = option(
        "End each server before the other starts. By default both stay in memory where there "
        "is no graphics card and room for both, and take turns after every answer: what the "
        "machine does in a second then falls on both.",
        default=False,
    )
    markdown: Path | None = option(
        "Also write the comparison as a comment for a pull request.", metavar="FILE"
    )


@console.reports_errors
@offers_fields
def compare(
    builds: Builds,
    options: Options,
    patience: Timeouts,
    result: ResultOptions,
) -> None:
    """Both builds answer the same prompts in turns, in random order, with a fresh server each time.

    Its defaults are a short prompt of each task, 48 tokens each, and 16 blocks. Exit code 1
    means that an arm is clearly slower with head, 0 that none is, 3 that something could not be
    measured. A busy machine makes the intervals wide, not wrong: give it more --blocks.

    - `python -m harness compare --base old/llama-server --head new/llama-server`

    - `python -m harness compare --base a --head b --target qwen3-8b --method draft-model:n_max=4`
    """
    from harness.cli import reports, session  # noqa: PLC0415 - slow to import, not for the help

    request = RunRequest(
        options=_defaults(options),
        engines=named_engines(
            ChosenEngine(runner="llama-server", connection=ConnectionOptions(**asdict(patience))),
            (f"base={builds.base}", f"head={builds.head}"),
        ),
        result=result,
    )
    if builds.markdown is not None:
        result_file.require_writable(builds.markdown.parent)
    with _codes_of_a_comparison():
        _require_servers(builds)
        if result.dry_run:
            reports.print_plan(request)
            return
        measured, errors = session.measured_interleaved(
            request, needs_all=True, together=not builds.one_at_a_time
        )
    if code := _exit_code(builds, measured, errors, as_json=result.json):
        raise typer.Exit(code)


def _exit_code(
    builds: Builds,
    measured: Mapping[str, Any],
    errors: Mapping[str, HarnessError],
    *,
    as_json: bool,
) -> int:
    """Print the comparison, if there is one, and say how the program ends."""
    code = MachineError.exit_code
    if not errors:
        both = (each.submission for each in measured.values())
        code = _print(builds, *both, as_json=as_json)
    interrupted = any(each.interrupted for each in measured.values())
    if all(error.exit_code == INTERRUPTED for error in errors.values()) and (errors or interrupted):
        code = INTERRUPTED
    return code


def _defaults(options: Options) -> Options:
    if options.precision is not None:
        message = "a comparison has a fixed number of blocks; give --blocks, not --precision"
        raise UsageError(message)
    chosen = options.quick or options.suite or options.tasks or options.prompts
    return replace(
        options,
        blocks=options.blocks or BLOCKS,
        suite=options.suite if chosen else SHORT_SUITE,
        max_output_tokens=options.max_output_tokens or (None if options.quick else _MAX_TOKENS),
    )


def _require_servers(builds: Builds) -> None:
    """Before anything is fetched, name the option whose program cannot be used."""
    for flag, path in (("--base", builds.base), ("--head", builds.head)):
        try:
            find(path)
        except BadInputError as error:
            raise BadInputError(str(error).replace("--server-binary", flag)) from error


@contextmanager
def _codes_of_a_comparison() -> Iterator[None]:
    """Exit code 1 is kept for a slowdown: what cannot be measured has 3."""
    try:
        yield
    except UsageError:
        raise
    except BadInputError as error:
        raise MachineError(str(error)) from error


def _print(builds: Builds, base: Submission, head: Submission, *, as_json: bool) -> int:
    from estimates import builds as estimates  # noqa: PLC0415 - slow to import
    from harness.report import builds as report  # noqa: PLC0415 - slow to import

    found = estimates.compare(base, head, threshold=builds.threshold)
    if builds.markdown is not None:
        with written(builds.markdown) as part:
            part.write_text(report.markdown(found), "utf-8")
    if as_json:
        console.print_json(estimates.to_json(found))
    else:
        screen = console.result_console()
        for line in report.lines(found):
            screen.print(line, soft_wrap=True, markup=False)
    return _EXIT_CODES.get(found.verdict, 0)
