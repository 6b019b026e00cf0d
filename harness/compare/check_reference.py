"""`draftmap compare --reference`: write tokens per round by task, or check them against a file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import typer

from estimates.model import Summary
from harness import console
from harness.compare import reference as estimates
from harness.compare.comparison import ERROR_RATE
from harness.compare.options import Builds
from harness.compare.reference import Reference
from harness.errors import (
    INVALID_ANSWERS,
    NO,
    NOT_MEASURED,
    BadInputError,
    MachineError,
    unreadable,
)
from harness.files import written
from harness.run import run_command
from harness.run.request import RunRequest
from harness.run.time_limit import JointEnd
from schemas.codec import encode
from schemas.vocabulary import say

_CODES = {"lower": NO, "not-compared": NOT_MEASURED, "invalid-answers": INVALID_ANSWERS}
_LARGEST = 1_000_000


def check_reference(
    request: RunRequest, path: Path, builds: Builds, reference: Reference | None, *, budget_s: float
) -> None:
    """Measure a single build; check it against the reference, or write one if none exists."""
    whole_block = JointEnd(budget_s=budget_s, enough=lambda _: False)
    measured, _ = run_command.measured_interleaved(request, whole_block)
    (engine,) = measured.values()
    try:
        now = estimates.reference_of(engine.submission)
    except ValueError as error:
        raise MachineError(str(error)) from error
    if reference is None:
        with written(path) as part:
            part.write_bytes(msgspec.json.format(msgspec.json.encode(now), indent=1) + b"\n")
        checks: Sequence[estimates.TaskCheck] = ()
        lines, verdict = (
            [f"Reference written: {path}. The next run is checked against it."],
            "written",
        )
    else:
        if apart := estimates.mismatch(reference, now):
            raise BadInputError(f"{path}: {apart}; name another file to write a new reference")
        checks = estimates.check(reference, now, builds.fail_below or estimates.FAIL_BELOW)
        verdict = _verdict(engine.summary, checks)
        lines = [*_lines(reference.engine, now.engine, checks, verdict)]
    if builds.markdown is not None:
        with written(builds.markdown) as part:
            part.write_text("\n".join(["### Tokens per round", "", *lines, ""]), "utf-8")
    if request.result.json:
        figures = [encode(check) for check in checks]
        confidence = 1 - ERROR_RATE
        console.print_json({"verdict": verdict, "confidence": confidence, "tasks": figures})
    else:
        console.print_lines(lines)
    if code := _CODES.get(verdict, 0):
        raise typer.Exit(code)


def read(path: Path) -> Reference | None:
    """Read the reference; `None` if there is no file yet.

    Raises `BadInputError` if the file is not a reference.
    """
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LARGEST), type=estimates.Reference)
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.DecodeError as error:
        raise BadInputError(
            f"{path} is not a reference of this version ({error}); name another file with "
            "--reference (if that file does not exist, a new reference is written to it)"
        ) from error


def _verdict(summary: Summary, checks: Sequence[estimates.TaskCheck]) -> str:
    if any(flag.name == "invalid-answers" for flag in summary.flags):
        return "invalid-answers"
    standings = [each.standing for each in checks]
    if "lower" in standings or not standings or set(standings) == {"not-compared"}:
        return "lower" if "lower" in standings else "not-compared"
    return "higher" if "higher" in standings else "no-difference"


def _lines(
    base: str, head: str, checks: Sequence[estimates.TaskCheck], verdict: str
) -> Iterator[str]:
    """Yield the verdict, and a table that is readable both in a terminal and in Markdown."""
    lower = [
        f"{c.arm} on {c.task} (largest loss on {c.prompt})" for c in checks if c.standing == "lower"
    ]
    yield {
        "lower": f"Fewer tokens per round than the reference: {', '.join(lower)}.",
        "higher": "No loss, and more tokens per round than the reference.",
        "no-difference": f"No difference in {say.count(len(checks), 'task')}.",
        "not-compared": "Not compared: nearly every answer differs from the reference's.",
        "invalid-answers": (
            "Invalid answers: speculation breaks JSON or tool calls, or causes loops."
        ),
    }[verdict]
    yield ""
    yield f"Reference: {base}. Head: {head}. {say.percent(1 - ERROR_RATE)} confidence."
    yield ""
    yield "| Method | Task | Reference → head | Change | Verdict |"
    yield "| --- | --- | --- | --- | --- |"
    for check in checks:
        values = change = ""
        if check.reference and check.measured and check.interval:
            values = f"{say.number(check.reference, 2)} → {say.number(check.measured, 2)}"
            ends = (check.interval.low - 1, check.interval.high - 1)
            change = f"{say.percent(check.measured / check.reference - 1, 1, signed=True)} "
            change += f"[{', '.join(say.percent(end, 1, signed=True) for end in ends)}]"
        left = f", {say.count(check.left_out, 'changed answer')} left out" if check.left_out else ""
        standing = check.standing.replace("-", " ")
        yield f"| `{check.arm}` | {check.task} | {values} | {change} | {standing}{left} |"
