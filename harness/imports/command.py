"""`draftmap import`: turn the logs or answers of another tool into a result."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from estimates.summary import summarize
from harness import console
from harness.command_options import offers_fields
from harness.errors import BadInputError
from harness.imports.assemble import assemble
from harness.imports.measured_arms import read
from harness.imports.needed_facts import KEYS, parse_map
from harness.imports.source_files import arm_and_path, digest, given
from harness.options import offered, option
from harness.report import brief
from harness.run import result_file as results
from harness.run.request import CONTRIBUTOR, JSON, check_contributor
from schemas.codec import encode
from schemas.submission import Origin

_NO_LICENCE = (
    "No licence given: these records may be shared only as their author allows. Look for the "
    "source's licence or ask the author, then import again with --licence and --source."
)
_LINE = re.compile(r"[^\x00-\x1f<>]{1,120}")
HELP = """The files are logs, outputs or answers: of llama-server (with `timings`), llama-cli,
llama-speculative, mtp-bench.py, Ollama, LM Studio, KoboldCpp, TabbyAPI and mlx_lm, answers of vLLM
with `--enable-per-request-metrics`, and files from `vllm bench serve --save-result --save-detailed`
or SGLang's `bench_serving --output-details`. Each file is an arm, and the first is the baseline.
All files must have the same prompts in the same order; requests that repeat a cached prompt are
left out. Files may be compressed with gzip.

Use `--map` to state facts that the files lack. The command lists missing required facts; other
facts stay unknown. Data that a result cannot contain is listed as `left out`. Imported results are
never averaged with measured results.

- `off.log on.log --map n_max=2 --map quantisation=Q4_K_M --map target=Qwen3.8-27B
--map backend=cuda --map gpu="NVIDIA GeForce RTX 3090" --map date=2026-08-15
--map sampling=greedy`

**Keys of --map**:

"""
HELP += "".join(f"- `{key}`: {description}\n" for key, description in KEYS.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The facts that the files lack, their source, and the place of the result."""

    facts: tuple[str, ...] = option(
        "A fact that the files lack; repeat the option for each. The command lists all missing "
        "facts. arm.NAME=METHOD names an arm's method. The keys are listed above.",
        name="map",
        metavar="KEY=VALUE",
        default=(),
    )
    output: Path | None = option(
        "A directory, or NAME.json. Default: the current directory.",
        short="-o",
        metavar="PATH",
        panel="Result",
    )
    contributor: str | None = offered(CONTRIBUTOR)
    source: str | None = option("Who published the records, and where.", metavar="TEXT")
    licence: str | None = option("Licence of the published records.", metavar="TEXT")
    json: bool = offered(JSON, default=False)

    def check(self) -> None:
        """Raise `BadInputError` for a value that a result cannot store."""
        check_contributor(self.contributor)
        for flag, value in (("--source", self.source), ("--licence", self.licence)):
            if value is not None and not _LINE.fullmatch(value):
                raise BadInputError(
                    f"{flag} {value!r}: give one line of at most 120 characters, without < and >"
                )


@console.reports_errors
@offers_fields
def import_(
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files from the other tool. The first file is the baseline. ARM=FILE names a "
            "file's arm; several files with the same ARM are repetitions."
        ),
    ],
    options: ImportOptions,
) -> None:
    """Read the requests, write the result, print its report."""
    options.check()
    given_files = [given(path, arm) for arm, path in map(arm_and_path, files)]
    measured = read(given_files)
    origin = Origin(
        format=measured.source,
        sha256=digest(given_files),
        source=options.source,
        licence=options.licence,
    )
    done = assemble(measured, parse_map(options.facts), origin, options.contributor)
    results.require_free(options.output)
    results.require_writable(options.output)
    path = results.write(done.submission, options.output)
    for line in done.left_out:
        console.say(f"left out: {line}")
    if origin.licence is None:
        console.say(_NO_LICENCE)
    summary = summarize(done.submission)
    if options.json:
        console.print_json(
            {"file": str(path), "summary": encode(summary), "left_out": [*done.left_out]}
        )
    else:
        brief.show(done.submission, summary, console.result_console(), path=path)
    console.say(f"Result: {path}")
