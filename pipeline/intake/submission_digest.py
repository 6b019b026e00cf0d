"""Describe one submission in a few words and figures, for a comment."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from estimates.identity import identify
from estimates.model import Flag, Interval, Summary, Verdict
from estimates.summary import summarize
from estimates.verdicts import after_flags
from schemas.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """An arm that was compared with a baseline, and its result over all tasks."""

    arm: str
    verdict: Verdict
    prompts: int
    speedup: float | None = None
    interval: Interval | None = None
    at_most: bool = False
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """The summary of a submission that a comment shows."""

    device: str
    backend: str
    engine: str
    target: str
    tier: str
    profile: str
    measured_on: str
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
    target, named = submission.target, identify(submission)
    return Understanding(
        device=named.device_label,
        backend=submission.engine.backend_label,
        engine=named.engine_build,
        target=f"{target.name} {target.quantisation}",
        tier=submission.tier,
        profile=submission.profile,
        measured_on=submission.measured_from[:10],
        trials=len(submission.trials),
        failed_trials=sum(1 for trial in submission.trials if trial.outcome == "failed"),
        arms=tuple(_arms(submission, summary)),
        flags=tuple(replace(flag, prompt=None) for flag in summary.flags),
        contributor=submission.contributor,
    )


def _arms(submission: Submission, summary: Summary) -> Iterator[ArmResult]:
    overall = {each.arm: each for each in summary.estimates if each.task is None}
    for arm in submission.arms:
        failure = arm.reason if arm.outcome == "failed" else None
        if own := overall.get(arm.id):
            yield ArmResult(
                arm=arm.id,
                verdict=own.verdict,
                prompts=own.prompts,
                speedup=own.speedup,
                interval=own.interval,
                at_most=own.at_most,
                failure=failure,
            )
        elif failure:
            yield ArmResult(arm=arm.id, verdict="failed", prompts=0, failure=failure)
