"""`draftmap show`: print the report of a result file."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast

import typer

from estimates.summary import summarize
from harness import console
from harness.errors import BadInputError
from harness.files import result_bytes
from harness.machine.engines import server_program
from harness.report import brief
from harness.report.use import LocalFiles
from schemas.codec import Json, encode
from schemas.contract import read
from schemas.submission import Submission


@console.reports_errors
def show(
    *,
    file: Annotated[Path, typer.Argument(help="A result file.", metavar="FILE")],
    details: Annotated[
        bool, typer.Option("--details", help="Print all figures below the verdict.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the estimates as JSON.")] = False,
) -> None:
    submission = read(result_bytes(file), file=str(file), now=datetime.now(UTC))
    if not isinstance(submission, Submission):
        more = f" and {len(submission) - 1} more" if len(submission) > 1 else ""
        raise BadInputError(
            f"{submission[0].line()}{more}; `python -m harness validate` lists all findings"
        )
    summary = summarize(submission)
    if json:
        console.print_json(cast("dict[str, Json]", encode(summary)))
        return
    screen, here = console.result_console(), LocalFiles(server=server_program())
    brief.show(submission, summary, screen, path=file, local_files=here, details=details)
