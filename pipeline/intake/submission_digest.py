"""Describe one submission in a few words and figures, for a comment."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from estimates.identity import identify
from estimates.intervals import corrected_estimate
from estimates.model import AnswerLength, Estimate, Flag, Interval, Summary, Verdict
from estimates.repeatability import blocks_run
from estimates.summary import summarize
from estimates.verdicts import INSTRUMENT, after_flags
from schemas.method import limit
from schemas.submission import Arm, Submission, Task
from schemas.vocabulary import size_class


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """An arm's result on one task or over all tasks: the fields of `Estimate` that a comment shows.

    Only an instrument, an arm that measures the cost of a round (R), has `round_cost`; it has no
    speedup. `picked` is the interval over all tasks, corrected for picking the arm as the best of
    several, as in the terminal.
    """

    verdict: Verdict
    prompts: int
    task: Task | None = None
    doubt: str | None = None
    speedup: float | None = None
    interval: Interval | None = None
    at_most: bool = False
    baseline_tps: float | None = None
    tps: float | None = None
    whole_request: float | None = None
    whole_request_interval: Interval | None = None
    pays_from: AnswerLength | None = None
    round_cost: float | None = None
    picked: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """An arm other than a baseline; in `results`, the result over all tasks comes first."""

    arm: str
    role: str
    method: str
    results: tuple[TaskResult, ...]
    draft: str | None = None
    depth: int | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """The summary of a submission that a comment shows."""

    device: str
    backend: str
    engine: str
    target: str
    size_class: str
    tier: str
    profile: str
    measured_on: str
    suite: str
    prompts: int
    blocks: int
    trials: int
    failed_trials: int
    arms: tuple[ArmResult, ...]
    flags: tuple[Flag, ...]
    contributor: str | None = None


def understand(submission: Submission, flags: tuple[Flag, ...] | None = None) -> Understanding:
    """Summarise a valid submission; `flags` are those of a build, which compares with others."""
    summary = summarize(submission)
    if flags is not None:
        estimates = after_flags(summary.estimates, flags, submission.arms)
        summary = replace(summary, flags=flags, estimates=estimates)
    engine, suite = submission.engine, submission.suite
    target, named = submission.target, identify(submission)
    choices = _choices(submission.arms, summary.estimates)
    return Understanding(
        device=named.device_label,
        backend=engine.backend_label,
        engine=named.engine_build,
        target=f"{target.name} {target.quantisation}",
        size_class=size_class(target.parameters).label,
        tier=submission.tier,
        profile=submission.profile,
        measured_on=submission.measured_from[:10],
        suite=f"{suite.id} {suite.version}",
        prompts=len(suite.prompts),
        blocks=blocks_run(submission),
        trials=len(submission.trials),
        failed_trials=sum(1 for trial in submission.trials if trial.outcome == "failed"),
        arms=tuple(
            _arm(arm, setting.draft_label, summary, choices[arm.concurrency])
            for arm, setting in zip(submission.arms, named.settings, strict=True)
            if arm.role != "baseline"
        ),
        flags=tuple(replace(flag, prompt=None) for flag in summary.flags),
        contributor=submission.contributor,
    )


def _choices(arms: Iterable[Arm], estimates: Iterable[Estimate]) -> Counter[int | None]:
    """The number of arms from which the best is picked, by number of concurrent requests."""
    drafted = {
        e.arm for e in estimates if not e.task and e.speedup and e.verdict != "never-drafted"
    }
    return Counter(o.concurrency for o in arms if o.role == "speculation" and o.id in drafted)


def _arm(arm: Arm, draft: str | None, summary: Summary, choices: int) -> ArmResult:
    own = [estimate for estimate in summary.estimates if estimate.arm == arm.id]
    own.sort(key=lambda estimate: estimate.task is not None)
    names = [each.name for each in fields(TaskResult) if each.name != "picked"]
    found = [TaskResult(**{name: getattr(each, name) for name in names}) for each in own]
    if choices > 1 and arm.role == "speculation" and found and found[0].task is None:
        found[0] = replace(found[0], picked=corrected_estimate(own[0], choices))
    return ArmResult(
        arm=arm.id,
        role=arm.role,
        method=arm.method.type,
        results=tuple(
            each if each.doubt == INSTRUMENT else replace(each, round_cost=None) for each in found
        ),
        draft=draft,
        depth=limit(arm.method),
        failure=arm.reason if arm.outcome == "failed" else None,
    )
