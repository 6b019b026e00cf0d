"""Check tokens per round by task against a reference that an earlier build wrote.

Greedy answers and their drafts do not depend on the machine's load, so the check needs no idle
machine. A prompt whose answer differs from the reference, for example because a near-tie is decided
differently on a different CPU, is left out. A task's tokens per round are 1 / the mean rounds per
token of its prompts. The interval is Student's t over blocks; its width is zero if all blocks
agree.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from estimates.decomposition import can_draft, tokens_per_round
from estimates.distributions import t_quantile
from estimates.identity import identify
from estimates.model import Interval
from harness.compare.comparison import level_of
from schemas.submission import Submission, Trial

FAIL_BELOW = 0.95
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


def reference_of(submission: Submission) -> Reference:
    """Make a reference from a run. Raises `ValueError` if rounds or answers are unknown."""
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
        raise ValueError("the engine does not report its rounds, or returns no text to compare")
    return _PromptReference(rounds_per_token=1 / per_round, text=" ".join(sorted(texts)))


def _over_blocks(trials: Sequence[Trial], level: float) -> float:
    """Return the half-width of the interval of tokens per round over blocks, as a logarithm."""
    blocks = {each.block for each in trials}
    found = [tokens_per_round([t for t in trials if t.block == block]) for block in blocks]
    logs = [math.log(each) for each in found if each]
    if len(logs) < 2 or max(logs) == min(logs):  # noqa: PLR2004 - one block has no spread
        return 0.0
    return t_quantile(len(logs) - 1, (1 + level) / 2) * stdev(logs) / math.sqrt(len(logs))
