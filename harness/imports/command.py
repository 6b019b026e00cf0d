"""`draftmap import`: turn the records of another tool into Draftmap results."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from estimates.summary import summarize
from harness import console
from harness.command_options import offers_fields
from harness.errors import BadInputError, suggestion
from harness.imports.assemble import Imported, assemble
from harness.imports.importers import IMPORTERS, read
from harness.imports.needed_facts import KEYS, parse_map
from harness.imports.source_files import arm_and_path, digest, given
from harness.options import REQUIRED, offered, option
from harness.report import brief
from harness.run import result_file as results
from harness.run.request import CONTRIBUTOR, JSON, check_contributor
from schemas.codec import encode
from schemas.submission import Origin, Submission

_NO_LICENCE = (
    "No licence given: these records may be shared only as their author allows. Look for the "
    "source's licence or ask the author, then import again with --licence and --source."
)
_LINE = re.compile(r"[^\x00-\x1f<>]{1,120}")
HELP = """Imported results are never averaged with measured results. Use `--map` to state facts that
a file lacks. The command lists missing required facts; other facts stay unknown. Data that a result
cannot contain is listed as `left out`: summaries, tests that only process prompts, contradictory
counters, records without tokens or time. Files may be compressed with gzip.
"""
HELP += "".join(f"\n**{name}**: {each.help}\n" for name, each in IMPORTERS.items())
HELP += "\n**Keys of --map**:\n\n"
HELP += "".join(f"- `{key}`: {description}\n" for key, description in KEYS.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The format of the files, the facts that they lack, and the folder for the results."""

    source_format: str = option(
        f"One of {', '.join(IMPORTERS)}.", name="from", metavar="FORMAT", default=REQUIRED
    )
    facts: tuple[str, ...] = option(
        "A fact that the files lack; repeat the option for each. The command lists all missing "
        "facts. task.NAME=TASK translates a category, arm.NAME=METHOD names an arm's method, and "
        "PART/KEY=VALUE applies to one part of the files. The keys are listed above.",
        name="map",
        metavar="KEY=VALUE",
        default=(),
    )
    output: Path | None = option(
        "A directory, or NAME.json for a single result. Default: the current directory.",
        short="-o",
        metavar="PATH",
        panel="Result",
    )
    contributor: str | None = offered(CONTRIBUTOR)
    source: str | None = option("Who published the records, and where.", metavar="TEXT")
    licence: str | None = option("Licence of the published records.", metavar="TEXT")
    json: bool = offered(JSON, default=False)

    def check(self) -> None:
        """Raise `BadInputError` for an unknown format, or a value that a result cannot store."""
        if self.source_format not in IMPORTERS:
            hint = suggestion(self.source_format, IMPORTERS)
            raise BadInputError(f"--from {self.source_format}: no such format.{hint}")
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
            help="Files from the other tool. If each arm has its own file, the first file is the "
            "baseline. ARM=FILE names a file's arm; several files with the same ARM are "
            "repetitions."
        ),
    ],
    options: ImportOptions,
) -> None:
    """Read the records, write the results, print the reports."""
    options.check()
    given_files = [given(path, arm) for arm, path in map(arm_and_path, files)]
    origin = Origin(
        format=options.source_format,
        sha256=digest(given_files),
        source=options.source,
        licence=options.licence,
    )
    parsed = read(options.source_format, given_files)
    done = assemble(parsed, parse_map(options.facts), origin, options.contributor)
    _report(done, _written(done.submissions, options.output), as_json=options.json)


def _written(submissions: tuple[Submission, ...], output: Path | None) -> list[Path]:
    is_file = output is not None and output.suffix == ".json" and not output.is_dir()
    if is_file and len(submissions) > 1:
        raise BadInputError(
            f"{len(submissions)} results do not fit into {output}; name a directory"
        )
    results.require_free(output)
    results.require_writable(output)
    return [results.write(each, output) for each in submissions]


def _report(done: Imported, paths: list[Path], *, as_json: bool) -> None:
    for line in done.left_out:
        console.say(f"left out: {line}")
    if any(result.origin and result.origin.licence is None for result in done.submissions):
        console.say(_NO_LICENCE)
    summaries = [summarize(result) for result in done.submissions]
    if as_json:
        entries = [
            {"file": str(path), "summary": encode(summary)}
            for path, summary in zip(paths, summaries, strict=True)
        ]
        console.print_json({"results": [*entries], "left_out": [*done.left_out]})
    for submission, summary, path in zip(done.submissions, summaries, paths, strict=True):
        if not as_json:
            brief.show(submission, summary, console.result_console(), path=path)
        console.say(f"Result: {path}")
