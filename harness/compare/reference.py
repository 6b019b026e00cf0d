"""`compare --reference`: check tokens per round by task against what an earlier build wrote.

Greedy answers and their drafts do not depend on the machine's load, so the check needs no idle
machine. A prompt whose answer differs from the reference, for example because a near-tie is decided
differently on a different CPU, is left out. A task's tokens per round are 1 / the mean rounds per
token of its prompts. The interval is Student's t over blocks; its width is zero if all blocks
agree.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal

import msgspec
import typer

from estimates.decomposition import can_draft, tokens_per_round
from estimates.distributions import t_quantile
from estimates.identity import identify
from estimates.model import Interval, Summary
from harness import console
from harness.compare.comparison import ERROR_RATE, level_of
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
from schemas.submission import Submission, Trial
from schemas.vocabulary import say

FAIL_BELOW = 0.95
_CODES = {"lower": NO, "not-compared": NOT_MEASURED, "invalid-answers": INVALID_ANSWERS}
_LARGEST = 1_000_000
Standing = Literal["lower", "higher", "no-difference", "not-compared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PromptReference:
    """Rounds per token on one prompt, and the digests of its different answers."""

    rounds_per_token: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskReference:
    tokens_per_round: float
    low: float
    high: float
    prompts: dict[str, _PromptReference]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The properties that a comparable run must share, and the expected tokens per round."""

    format: Literal["draftmap-reference"] = "draftmap-reference"
    version: Literal[1] = 1
    engine: str
    target: str
    suite: str
    max_output_tokens: int
    arms: dict[str, dict[str, _TaskReference]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCheck:
    """A task's tokens per round, relative to the reference.

    `left_out` counts the prompts whose answers differ from the reference. `prompt` is the prompt
    with the largest loss, or the smallest gain.
    """

    arm: str
    task: str
    standing: Standing
    left_out: int = 0
    reference: float | None = None
    measured: float | None = None
    interval: Interval | None = None
    prompt: str | None = None


def check_run(
    request: RunRequest,
    reference: Reference | None,
    path: Path,
    bound: float | None,
    markdown: Path | None,
    whole_block: JointEnd,
) -> None:
    """Measure a single build; check it against the reference, or write one if none exists."""
    measured, _ = run_command.measured_interleaved(request, whole_block)
    (engine,) = measured.values()
    now = reference_of(engine.submission)
    if reference is None:
        with written(path) as part:
            part.write_bytes(msgspec.json.format(msgspec.json.encode(now), indent=1) + b"\n")
        checks: Sequence[TaskCheck] = ()
        verdict = "written"
        lines = [f"Reference written: {path}. The next run is checked against it."]
    else:
        if apart := mismatch(reference, now):
            raise BadInputError(f"{path}: {apart}; name another file to write a new reference")
        checks = check(reference, now, bound or FAIL_BELOW)
        verdict = _verdict(engine.summary, checks)
        lines = [*_lines(reference.engine, now.engine, checks, verdict)]
    if markdown is not None:
        with written(markdown) as part:
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
            data = file.read(_LARGEST)
        return msgspec.json.decode(data, type=Reference)
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.DecodeError as error:
        is_result = b'"draftmap-submission"' in data
        own = ": it is a result" if is_result else f" of this version ({error})"
        raise BadInputError(
            f"{path} is not a reference{own}; name another file with --reference (if that file "
            "does not exist, a new reference is written to it)"
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


def reference_of(submission: Submission) -> Reference:
    """Make a reference from a run. Raises `MachineError` if rounds or answers are unknown."""
    return Reference(
        engine=identify(submission).engine_build,
        target=f"{submission.target.name} {submission.target.quantisation}",
        suite=f"{submission.suite.id} {submission.suite.version} {submission.suite.sha256}",
        max_output_tokens=submission.settings.max_output_tokens or 0,
        arms={
            arm.id: _tasks(submission, arm.id)
            for arm in submission.arms
            if arm.role == "speculation" and can_draft(arm.method)
        },
    )


def mismatch(reference: Reference, now: Reference) -> str | None:
    """Return why a run cannot be checked against a reference; `None` if the check is possible."""
    tasks = [task for tasks in reference.arms.values() for task in tasks.values()]
    figures = [f for task in tasks for f in (task.tokens_per_round, task.low, task.high)]
    figures += [p.rounds_per_token for task in tasks for p in task.prompts.values()]
    if not all(0 < value < math.inf for value in figures):
        return "one of its figures is not greater than zero"
    for name in ("target", "suite", "max_output_tokens"):
        if getattr(reference, name) != getattr(now, name):
            was, found = getattr(reference, name), getattr(now, name)
            return f"it describes a different run: its {name} is {was}, but this run's is {found}"
    theirs, ours = (
        {(a, t, p) for a, ts in side.arms.items() for t, r in ts.items() for p in r.prompts}
        for side in (reference, now)
    )
    apart = sorted(theirs ^ ours)
    return f"the reference and the run must both contain {' '.join(apart[0])}" if apart else None


def check(reference: Reference, now: Reference, fail_below: float) -> tuple[TaskCheck, ...]:
    """Compare every arm and task with a reference that fits the run."""
    return tuple(
        _checked(arm, task, expected, now.arms[arm][task], fail_below)
        for arm, tasks in reference.arms.items()
        for task, expected in tasks.items()
    )


def _checked(
    arm: str, task: str, expected: _TaskReference, now: _TaskReference, fail_below: float
) -> TaskCheck:
    same = [p for p, past in expected.prompts.items() if now.prompts[p].text == past.text]
    left_out = len(expected.prompts) - len(same)
    if 2 * len(same) < len(expected.prompts) or not same:
        return TaskCheck(arm=arm, task=task, standing="not-compared", left_out=left_out)
    was, measured = expected.tokens_per_round, now.tokens_per_round
    if left_out:
        was, measured = (_pooled(side.prompts[p] for p in same) for side in (expected, now))
    error = math.hypot(*(abs(math.log(side.high / side.low)) / 2 for side in (expected, now)))
    low, high = (measured / was * math.exp(sign * error) for sign in (-1, 1))
    return TaskCheck(
        arm=arm,
        task=task,
        standing=(
            "lower" if high < fail_below else "higher" if low > 1 / fail_below else "no-difference"
        ),
        left_out=left_out,
        reference=was,
        measured=measured,
        interval=Interval(low=low, high=high),
        prompt=max(
            same,
            key=lambda p: now.prompts[p].rounds_per_token / expected.prompts[p].rounds_per_token,
        ),
    )


def _pooled(prompts: Iterable[_PromptReference]) -> float:
    return 1 / fmean(each.rounds_per_token for each in prompts)


def _tasks(submission: Submission, arm: str) -> dict[str, _TaskReference]:
    trials = [trial for trial in submission.trials if trial.arm == arm and trial.outcome == "ok"]
    answered = {trial.prompt for trial in trials}
    tasks: dict[str, list[str]] = {}
    for prompt in submission.suite.prompts:
        if prompt.id in answered:
            tasks.setdefault(prompt.task, []).append(prompt.id)
    found = {}
    for task, ids in tasks.items():
        prompts = {prompt: _prompt([t for t in trials if t.prompt == prompt]) for prompt in ids}
        value = _pooled(prompts.values())
        error = _over_blocks([t for t in trials if t.prompt in prompts], level_of(len(tasks)))
        low, high = (value * math.exp(sign * error) for sign in (-1, 1))
        found[task] = _TaskReference(tokens_per_round=value, low=low, high=high, prompts=prompts)
    return found


def _prompt(trials: Sequence[Trial]) -> _PromptReference:
    texts = {each.output_sha256 or each.text_sha256 or "" for each in trials}
    per_round = tokens_per_round(trials)
    if per_round is None or "" in texts:
        raise MachineError("the engine does not report its rounds, or returns no text to compare")
    return _PromptReference(rounds_per_token=1 / per_round, text=" ".join(sorted(texts)))


def _over_blocks(trials: Sequence[Trial], level: float) -> float:
    """Return the half-width of the interval of tokens per round over blocks, as a logarithm."""
    blocks = {each.block for each in trials}
    found = [tokens_per_round([t for t in trials if t.block == block]) for block in blocks]
    logs = [math.log(each) for each in found if each]
    if len(logs) < 2 or max(logs) == min(logs):  # noqa: PLR2004 - one block has no spread
        return 0.0
    return t_quantile(len(logs) - 1, (1 + level) / 2) * stdev(logs) / math.sqrt(len(logs))
