"""`draftmap show`: print the report of a result file."""

from pathlib import Path
from typing import Annotated, cast

import typer

from estimates.summary import summarize
from harness import console
from harness.machine.engines import server_program
from harness.record.read import result
from harness.report import brief
from harness.report.use import LocalFiles
from schemas.codec import Json, encode


@console.reports_errors
def show(
    *,
    file: Annotated[Path, typer.Argument(help="A result file.", metavar="FILE")],
    details: Annotated[
        bool, typer.Option("--details", help="Print all figures below the verdict.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the estimates as JSON.")] = False,
) -> None:
    submission = result(file)
    summary = summarize(submission)
    if json:
        console.print_json(cast("dict[str, Json]", encode(summary)))
        return
    screen, here = console.result_console(), LocalFiles(server=server_program())
    brief.show(submission, summary, screen, path=file, local_files=here, details=details)
