"""`draftmap fix`: repair mistakes in result files without touching any measurement."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from estimates.identity import canonical_name
from harness import console
from harness.errors import NO
from harness.files import result_bytes, written
from schemas.codec import encode
from schemas.finding import ROOT, Finding
from schemas.repairs import repaired


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
    found = [_fix_of(path) for path in dict.fromkeys(files)]
    fixes = [each for each in found if isinstance(each, _Fix)]
    findings = [each for one in found if isinstance(one, tuple) for each in one]
    repairs = [each for one in fixes for each in one.repairs]
    write = write and not findings
    if json:
        _make(fixes if write else ())
        named = {str(each.path): {"name": each.name, "measured": each.digest} for each in fixes}
        listed = {"findings": encode(findings), "repairs": encode(repairs)}
        console.print_json({"written": write, "files": encode(named), **listed})
    else:
        for line in (*findings, *repairs):
            typer.echo(line.line())
        asks = sys.stdin.isatty() and repairs and not (write or findings)
        write = write or bool(asks and typer.confirm("Make these repairs now?", err=True))
        _make(fixes if write else ())
    if findings:
        console.say(
            "Nothing was changed. If the repairs cannot fix a file, repeat its measurement or "
            "import."
        )
    elif not repairs:
        console.say("Nothing to repair.")
    elif not write:
        console.say("These repairs change no measured value. Use `--write` to make them.")
    if findings or (repairs and not write):
        raise typer.Exit(NO)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fix:
    """A file, the repairs it needs, and the bytes and the file name that it has afterwards."""

    path: Path
    name: str
    data: bytes
    repairs: tuple[Finding, ...]
    digest: str


def _make(fixes: Iterable[_Fix]) -> None:
    """Write the repaired files.

    A renamed file's old copy is deleted once the new file is on disk.
    """
    for each in fixes:
        if not each.repairs:
            continue
        place = each.path.with_name(each.name)
        with written(place) as part:
            part.write_bytes(each.data)
        if each.path.is_symlink() or not each.path.samefile(place):
            each.path.unlink()
        else:
            each.path.rename(place)  # a disk that ignores case still shows the old spelling


def _fix_of(path: Path) -> _Fix | tuple[Finding, ...]:
    found = repaired(result_bytes(path), file=str(path))
    if isinstance(found, tuple):
        return found
    name, repairs = canonical_name(found.submission, found.data), found.repairs
    if name != path.name:
        renamed = Finding(file=str(path), path=ROOT, message=f"is named {name}", rule="repair")
        repairs = (*repairs, renamed)
    return _Fix(path=path, name=name, data=found.data, repairs=repairs, digest=found.digest)
