"""`draftmap compare --reference`: write tokens per round by task, or check them against a file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import typer

from estimates.model import Summary
from harness import console
from harness.compare.comparison import ERROR_RATE
from harness.compare.options import Builds
from harness.compare.reference import (
    FAIL_BELOW,
    Reference,
    TaskCheck,
    check,
    mismatch,
    reference_of,
)
from harness.compare.report import signed
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
        now = reference_of(engine.submission)
    except ValueError as error:
        raise MachineError(str(error)) from error
    if reference is None:
        with written(path) as part:
            part.write_bytes(msgspec.json.format(msgspec.json.encode(now), indent=1) + b"\n")
        checks: Sequence[TaskCheck] = ()
        verdict = "written"
        lines = [f"Reference written: {path}. The next run is checked against it."]
    else:
        if apart := mismatch(reference, now):
            raise BadInputError(f"{path}: {apart}; name another file to write a new reference")
        checks = check(reference, now, builds.fail_below or FAIL_BELOW)
        verdict = _verdict(engine.summary, checks)
        lines = [*_lines(reference.engine, now.engine, checks, verdict)]
    if builds.markdown is not None:
        with written(builds.markdown) as part:
            part.write_text("\n".join(["### Tokens per round", "", *lines, ""]), "utf-8")
    if request.result.json:
        figures = {"confidence": 1 - ERROR_RATE, "tasks": encode(checks)}
        console.print_json({"verdict": verdict, **figures})
    else:
        console.print_lines(lines)
    if code := _CODES.get(verdict, 0):
        raise typer.Exit(code)


def read(path: Path) -> Reference | None:
    """Read the reference; `None` without a file. Raises `BadInputError` if it is unreadable."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LARGEST), type=Reference)
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.DecodeError as error:
        raise BadInputError(
            f"{path} is not a reference of this version ({error}); name another file with "
            "--reference (if that file does not exist, a new reference is written to it)"
        ) from error


def _verdict(summary: Summary, checks: Sequence[TaskCheck]) -> str:
    if any(flag.name == "invalid-answers" for flag in summary.flags):
        return "invalid-answers"
    found = {each.standing for each in checks}
    decisive = (each for each in ("lower", "higher", "no-difference") if each in found)
    return next(decisive, "not-compared")


def _lines(base: str, head: str, checks: Sequence[TaskCheck], verdict: str) -> Iterator[str]:
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
    for each in checks:
        values = change = ""
        if each.reference and each.measured:
            values = f"{say.number(each.reference, 2)} → {say.number(each.measured, 2)}"
            change = signed(each.measured / each.reference, each.interval)
        left = f", {say.count(each.left_out, 'changed answer')} left out" if each.left_out else ""
        standing = each.standing.replace("-", " ")
        yield f"| `{each.arm}` | {each.task} | {values} | {change} | {standing}{left} |"
