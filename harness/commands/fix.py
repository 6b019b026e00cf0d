"""`draftmap fix`: repair mistakes in result files without touching any measurement."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from estimates.identity import canonical_name
from harness import console
from harness.errors import NO
from harness.files import result_bytes, written
from schemas.codec import encode
from schemas.finding import ROOT, Finding
from schemas.repairs import Repaired, repaired

_UNFIXED = (
    "Nothing was changed. If the repairs cannot fix a file, repeat its measurement or import."
)


@console.reports_errors
def fix(
    *,
    files: Annotated[list[Path], typer.Argument(help="Result files.", metavar="FILE")],
    write: Annotated[bool, typer.Option("--write", help="Make the repairs.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the repairs as JSON.")] = False,
) -> None:
    """First prints each repair: key order, spaces, spelling, 41.0 instead of 41, version or names.

    Files change only with --write, or after a yes in a terminal. Otherwise exit code 1 means that
    there are repairs. Measurements never change: a digest of all measured values stays the same.
    """
    found = {path: repaired(result_bytes(path), file=str(path)) for path in files}
    findings = [each for one in found.values() if isinstance(one, tuple) for each in one]
    fixes = {path: one for path, one in found.items() if isinstance(one, Repaired)}
    names = {path: canonical_name(one.submission, one.data) for path, one in fixes.items()}
    repairs = {path: (*one.repairs, *_rename(path, names[path])) for path, one in fixes.items()}
    listed = [each for own in repairs.values() for each in own]
    write = write and not findings
    if not json:
        for line in (*findings, *listed):
            typer.echo(line.line())
        asks = sys.stdin.isatty() and listed and not (write or findings)
        write = write or bool(asks and typer.confirm("Make these repairs now?", err=True))
    renamed = {path: path.with_name(name) for path, name in names.items() if repairs[path]}
    _write(renamed if write else {}, fixes)
    if json:
        named = {str(at): {"name": names[at], "measured": fixes[at].digest} for at in fixes}
        both = {"findings": encode(findings), "repairs": encode(listed)}
        console.print_json({"written": write, "files": encode(named), **both})
    if findings:
        console.say(_UNFIXED)
    elif not listed:
        console.say("Nothing to repair.")
    elif not write:
        console.say("These repairs change no measured value. Use `--write` to make them.")
    if findings or (listed and not write):
        raise typer.Exit(NO)


def _rename(path: Path, name: str) -> Iterator[Finding]:
    if name != path.name:
        yield Finding(file=str(path), path=ROOT, message=f"is named {name}", rule="repair")


def _write(places: Mapping[Path, Path], fixes: Mapping[Path, Repaired]) -> None:
    """Write repaired files; a copy under an old name is deleted once the new file is on disk."""
    for path, place in places.items():
        with written(place) as part:
            part.write_bytes(fixes[path].data)
        if path.is_symlink() or not path.samefile(place):
            path.unlink()
        else:
            path.rename(place)  # a disk that ignores case still shows the old spelling
