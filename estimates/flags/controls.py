"""Does the instrument measure a known answer right?"""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING

from estimates.controls import controls
from estimates.flags.evidence import listed, only, percent
from estimates.model import Flag
from estimates.trials import cpu_ms_per_token
from estimates.verdicts import judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from estimates.flags.evidence import Evidence
    from estimates.model import Interval
    from estimates.pairing import PromptPairs
    from schemas.submission import Trial

OVERHEAD = 0.03
CLOCKS_APART = 0.10


def control_excludes_one(evidence: Evidence) -> Flag | None:
    """The same arm twice gives a ratio whose interval over all prompts does not contain 1.

    By its nature one interval in twenty does that on a perfect instrument. It is serious only
    where the whole interval is so far off that a verdict would follow from it.
    """
    off = [
        each
        for each in _controls(evidence, "baseline-again")
        if not each[1].low <= 1 <= each[1].high
    ]
    if not off:
        return None
    arm, interval = max(off, key=lambda each: abs(math.log(each[1].low * each[1].high)))
    return Flag(
        name="control-excludes-one",
        severity="caution" if judge(interval) == "no-clear-difference" else "serious",
        message=(
            "The same arm measured against itself gives "
            f"{interval.low:.3f} to {interval.high:.3f}, which does not contain 1."
        ),
        remedy="Do not trust differences of this size; measure more blocks.",
        arm=arm,
    )


def loop_overhead(evidence: Evidence) -> Flag | None:
    """The speculative loop costs more than 3 % although it drafts nothing."""
    slow = [each for each in _controls(evidence, "empty-draft") if each[1].high < 1 - OVERHEAD]
    if not slow:
        return None
    arm, interval = min(slow, key=lambda each: each[1].high)
    loss = 1 - math.sqrt(interval.low * interval.high)
    return Flag(
        name="loop-overhead",
        severity="caution",
        message=f"The speculative loop alone costs {percent(loss)} of the speed.",
        remedy="Part of every loss here is the engine's loop and not the draft.",
        arm=arm,
    )


def processor_time_disagrees(evidence: Evidence) -> Flag | None:
    """On a CPU backend, processor time and wall time give different speedups."""
    if evidence.submission.engine.backend != "cpu":
        return None
    factors: dict[str, float] = {}
    for arm in evidence.submission.arms:
        own = [pairs for pairs in evidence.pairs if pairs.arm.id == arm.id]
        apart = [gap for pairs in own if (gap := _clock_gap(pairs)) is not None]
        if apart and len(apart) == len(own) and abs(math.expm1(fmean(apart))) > CLOCKS_APART:
            factors[arm.id] = math.exp(fmean(apart))
    if not factors:
        return None
    told = [f"{factor:.2f} times as large for {arm}" for arm, factor in factors.items()]
    return Flag(
        name="processor-time-disagrees",
        severity="caution",
        message=f"By processor time the speedup is {listed(told)}.",
        remedy="Something competed for the processor; repeat on a quieter machine.",
        arm=only(factors),
    )


def _controls(evidence: Evidence, kind: str) -> Iterator[tuple[str, Interval]]:
    """Control arms of a kind with the interval of their ratio over all prompts."""
    for control in controls(evidence.submission, evidence.pairs):
        if control.kind == kind and control.interval is not None:
            yield control.arm, control.interval


def _clock_gap(pairs: PromptPairs) -> float | None:
    """Log of the speedup by processor time over the one by wall time, both within blocks."""
    both = zip(_cpu_ms(pairs.baseline_trials), _cpu_ms(pairs.trials), strict=True)
    ratios = [math.log(base / own) for base, own in both if base and own]
    return median(ratios) - pairs.log_ratio if len(ratios) == len(pairs.trials) else None


def _cpu_ms(trials: tuple[Trial, ...]) -> list[float | None]:
    return [cpu_ms_per_token(trial) for trial in trials]
