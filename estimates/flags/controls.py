"""Flags about control arms: arms that repeat or have a set acceptance."""

import math

from estimates.decomposition import tokens_per_round
from estimates.flags.observation import FlagEvidence, Observation, bounds, only
from estimates.ratios import controls
from estimates.verdicts import judge
from schemas.vocabulary.flags import Severity


def control_excludes_one(evidence: FlagEvidence) -> Observation | None:
    """An arm measured twice has a time ratio whose interval over all prompts excludes 1.

    Even with a perfect instrument, one interval in twenty excludes 1. The flag is serious only if
    the whole interval is far enough from 1 to give a verdict.
    """
    off = [
        (control.arm, found)
        for control in controls(evidence.submission, evidence.pairs)
        if control.kind == "baseline-again" and (found := control.interval) is not None
        if not found.low <= 1 <= found.high
    ]
    if not off:
        return None
    arm, interval = max(off, key=lambda each: abs(math.log(each[1].low * each[1].high)))
    severity: Severity = "caution" if judge(interval) == "no-clear-difference" else "serious"
    return Observation(severity=severity, low=interval.low, high=interval.high, arm=arm)


def acceptance_not_as_set(evidence: FlagEvidence) -> Observation | None:
    """An arm with forced acceptance does not yield the tokens per round that were set."""
    found: dict[str, str] = {}
    for arm in evidence.submission.arms:
        trials = [trial for trial in evidence.submission.trials if trial.arm == arm.id]
        yielded = tokens_per_round([trial for trial in trials if trial.outcome == "ok"])
        length = arm.method.length
        if yielded is None or length is None:
            continue
        if abs(yielded / length - 1) > bounds("acceptance-not-as-set")["apart"]:
            found[arm.id] = f"{yielded:.2f} instead of {length:g} with {arm.id}"
    return Observation(arms=[*found.values()], arm=only(found)) if found else None
