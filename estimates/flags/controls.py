"""Does the instrument measure a known answer right?"""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING

from estimates.flags.evidence import percent
from estimates.intervals import t_interval
from estimates.model import Flag
from estimates.trials import cpu_ms_per_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from estimates.flags.evidence import Evidence
    from estimates.pairing import PromptPairs
    from schemas.submission import Trial

OVERHEAD = 0.03
CLOCKS_APART = 0.10


def control_excludes_one(evidence: Evidence) -> Iterator[Flag]:
    """The same arm twice gives a ratio whose interval over all prompts does not contain 1."""
    for arm, pairs in _controls(evidence, "none"):
        interval = t_interval([each.log_ratio for each in pairs])
        if interval is not None and not interval.low <= 1 <= interval.high:
            yield Flag(
                name="control-excludes-one",
                message=(
                    "The same arm measured against itself gives "
                    f"{interval.low:.3f} to {interval.high:.3f}, which does not contain 1."
                ),
                remedy="Do not trust differences of this size; measure more blocks.",
                arm=arm,
            )


def loop_overhead(evidence: Evidence) -> Iterator[Flag]:
    """The speculative loop costs more than 3 % although it drafts nothing."""
    for arm, pairs in _controls(evidence, "empty-draft"):
        interval = t_interval([each.log_ratio for each in pairs])
        if interval is not None and interval.high < 1 - OVERHEAD:
            loss = 1 - math.exp(fmean(each.log_ratio for each in pairs))
            yield Flag(
                name="loop-overhead",
                message=f"The speculative loop alone costs {percent(loss)} of the speed.",
                remedy="Part of every loss here is the engine's loop and not the draft.",
                arm=arm,
            )


def processor_time_disagrees(evidence: Evidence) -> Iterator[Flag]:
    """On a CPU backend, processor time and wall time give different speedups."""
    if evidence.submission.engine.backend != "cpu":
        return
    for arm in evidence.submission.arms:
        own = [pairs for pairs in evidence.pairs if pairs.arm.id == arm.id]
        apart = [gap for pairs in own if (gap := _clock_gap(pairs)) is not None]
        if not apart or len(apart) < len(own):
            continue
        factor = math.exp(fmean(apart))
        if abs(factor - 1) > CLOCKS_APART:
            yield Flag(
                name="processor-time-disagrees",
                message=f"By processor time its speedup is {factor:.2f} times the one shown.",
                remedy="Something competed for the processor; repeat on a quieter machine.",
                arm=arm.id,
            )


def _controls(evidence: Evidence, kind: str) -> Iterator[tuple[str, list[PromptPairs]]]:
    for arm in evidence.submission.arms:
        if arm.role == "control" and arm.method.type == kind:
            yield arm.id, [pairs for pairs in evidence.pairs if pairs.arm.id == arm.id]


def _clock_gap(pairs: PromptPairs) -> float | None:
    """Log of the speedup by processor time over the one by wall time."""
    own, base = _cpu_ms(pairs.trials), _cpu_ms(pairs.baseline_trials)
    return None if own is None or base is None else math.log(base / own) - pairs.log_ratio


def _cpu_ms(trials: tuple[Trial, ...]) -> float | None:
    times = [ms for trial in trials if (ms := cpu_ms_per_token(trial)) is not None]
    return median(times) if len(times) == len(trials) else None
