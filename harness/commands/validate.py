"""`draftmap validate`: check result files as the project's own pull-request check does."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from estimates.summary import summarize
from harness import console, features
from harness.errors import BAD_INPUT, NO, BadInputError
from harness.files import result_bytes
from schemas.codec import encode
from schemas.contract import read
from schemas.finding import ROOT, Finding
from schemas.submission import Submission

_UNREAD = "readable"


@console.reports_errors
def validate(
    *,
    files: Annotated[list[Path], typer.Argument(help="Result files.", metavar="FILE")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Prints a line for each problem, and for each flag of a valid file.

    `show FILE` prints the report of a valid file. For a file of another tool, the command or page
    that reads it is named.
    """
    read_files = [_read(path) for path in files]
    findings = [finding for each in read_files if isinstance(each, tuple) for finding in each]
    if json:
        console.print_json({"findings": [encode(finding) for finding in findings]})
    else:
        for finding in findings:
            typer.echo(finding.line())
    for path, each in zip(files, read_files, strict=True):
        if isinstance(each, tuple) and (reads := features.part("other files").looks_like(path)):
            console.say(f"{path}: {reads}")
    if findings:
        unread = any(finding.rule == _UNREAD for finding in findings)
        raise typer.Exit(BAD_INPUT if unread else NO)
    valid = [
        (path, each)
        for path, each in zip(files, read_files, strict=True)
        if not isinstance(each, tuple)
    ]
    for path, submission in valid:
        for flag in summarize(submission).flags:
            console.say(f"{path}: {flag.severity}: {flag.name}: {flag.message}")
    console.say(f"{len(files)} valid." if len(files) > 1 else "Valid.")


def _read(path: Path) -> Submission | tuple[Finding, ...]:
    """Return the submission in a valid file, else the findings; an unreadable file is a finding."""
    try:
        data = result_bytes(path)
    except BadInputError as error:
        message = str(error).removeprefix(f"{path} ")
        return (Finding(file=str(path), path=ROOT, message=message, rule=_UNREAD),)
    return read(data, file=str(path), now=datetime.now(UTC))
