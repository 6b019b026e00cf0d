"""`draftmap validate`: is a result file valid? The same answer as in the project's own checks."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import talk
from harness.errors import BadInputError
from schemas.codec import Json, encode
from schemas.contract import findings
from schemas.finding import Finding

_INVALID = 1


@talk.reports_errors
def validate(
    *,
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings for machines.")] = False,
) -> None:
    """Check result files against the format; prints one line per finding and nothing else."""
    found = [(path, finding) for path in files for finding in findings(_bytes(path))]
    if json:
        talk.print_json([_entry(path, finding) for path, finding in found])
    else:
        for path, finding in found:
            typer.echo(finding.line(str(path)))
    if found:
        raise typer.Exit(_INVALID)
    talk.say(f"{len(files)} valid." if len(files) > 1 else "Valid.")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise BadInputError(message) from error


def _entry(path: Path, finding: Finding) -> Json:
    fields = encode(finding)
    return {"file": str(path), **fields} if isinstance(fields, dict) else fields
