"""`draftmap validate`: check result files as the project's own pull-request check does."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from estimates.understanding import ArmResult, Understanding, overall, understand
from harness.cli import console
from harness.report import words
from schemas.codec import encode
from schemas.contract import read as read_document
from schemas.finding import ROOT, Finding
from schemas.strict import MAX_BYTES
from schemas.submission import Submission
from schemas.vocabulary import VERDICTS, say

_INVALID = 1


@console.reports_errors
def validate(
    *,
    files: Annotated[list[Path], typer.Argument(help="Result files.", metavar="FILE")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """How each valid file was understood is printed on standard error, for you to check."""
    read = [(path, _read(path)) for path in files]
    found = [each for _, result in read if isinstance(result, tuple) for each in result]
    if json:
        console.print_json([encode(finding) for finding in found])
    else:
        for finding in found:
            typer.echo(finding.line())
    for path, result in read:
        if isinstance(result, Submission):
            console.say(f"{path}:")
            for line in understood_lines(understand(result)):
                console.say(f"  {line}")
    if found:
        raise typer.Exit(_INVALID)
    console.say(f"{len(files)} valid." if len(files) > 1 else "Valid.")


def _read(path: Path) -> Submission | tuple[Finding, ...]:
    """The file or its findings; an unreadable file is a finding, so that the others are checked."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)  # one more than allowed: the loader reports it
    except OSError as error:
        next_step = "name the files in it" if path.is_dir() else "check the path"
        message = f"cannot be read ({error.strerror}); {next_step}"
        return (Finding(file=str(path), path=ROOT, message=message, rule="readable"),)
    return read_document(data, file=str(path), now=datetime.now(UTC))


def understood_lines(read: Understanding) -> Iterator[str]:
    """Machine, models, arms with their verdicts, and flags with their remedies."""
    yield f"machine  {read.device}, {read.backend}"
    yield f"engine   {read.engine}"
    yield f"target   {read.target} ({read.size_class})"
    prompts = say.count(read.prompts, "prompt")
    yield f"campaign {read.profile}, {read.measured_on}, {prompts}, {read.blocks} blocks"
    yield f"credit   {read.contributor or 'nobody (anonymous)'}"
    if read.supersedes:
        yield f"replaces {read.supersedes}"
    for arm in read.arms:
        whole = overall(arm)
        outcome = "not compared" if whole is None else _figure(arm, whole.task)
        yield f"{arm.arm}: {f'failed ({arm.failure})' if arm.failure else outcome}"
        tasks = [each.task for each in arm.results if each.task]
        yield from (f"  {task}: {_figure(arm, task)}" for task in tasks)
    for flag in read.flags:
        yield f"{flag.severity} {flag.name}: {flag.message} {flag.remedy}"


def _figure(arm: ArmResult, task: str | None) -> str:
    found = next(each for each in arm.results if each.task == task)
    verdict = VERDICTS[found.verdict].label
    if found.round_cost is not None:
        return f"an instrument, R {say.number(found.round_cost, 2)}"
    if found.speedup is None:
        return verdict
    speedup = words.speedup(found.speedup, found.interval, at_most=found.at_most)
    text = f"{verdict}, {speedup}, {words.rates(found)} tokens/s"
    request = found.whole_request
    return text if request is None else f"{text}, whole request {say.times(request)}"
