"""Do repetitions of the same trial agree?"""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING

from estimates.flags.evidence import Repeats, percent, repeats
from estimates.model import Flag
from estimates.trials import decode_ms_per_token, ms_per_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from estimates.flags.evidence import Evidence

BLOCK_CV = 0.10
FAR_FROM_MEAN = 0.50
CLOCK_FACTOR = 1.5
# Rounded times may coincide once in a while; more than this share of coincidences is no chance.
ZERO_SPREAD_SHARE = 0.05
_SURE_REPEATS = 3

_QUIETER = "Close other programs, let the machine settle, and measure more blocks (--blocks)."


def block_spread(evidence: Evidence) -> Iterator[Flag]:
    """The same trial takes different times in different blocks (CV above 10 %)."""
    for arm, worst, value, others in _worst_by_arm(evidence, _cv, BLOCK_CV):
        message = f"From block to block the time per token varies by {percent(value)}{others}"
        yield Flag(name="block-spread", message=message, remedy=_QUIETER, arm=arm, prompt=worst)


def block_outlier(evidence: Evidence) -> Iterator[Flag]:
    """One block is more than half away from the mean of the blocks."""
    for arm, worst, value, others in _worst_by_arm(evidence, _farthest, FAR_FROM_MEAN):
        message = f"One block is {percent(value)} away from the mean of the blocks{others}"
        remedy = "Something disturbed the machine; measure again or add blocks (--blocks)."
        yield Flag(name="block-outlier", message=message, remedy=remedy, arm=arm, prompt=worst)


def zero_spread(evidence: Evidence) -> Iterator[Flag]:
    """Repetitions took exactly the same time, which clocks do not do."""
    repeated = [group for group in repeats(evidence.submission) if len(group.trials) > 1]
    same = [group for group in repeated if len({t.decode_ms for t in group.trials}) == 1]
    sure = [group for group in same if len(group.trials) >= _SURE_REPEATS]
    if sure or len(same) > ZERO_SPREAD_SHARE * len(repeated):
        first = (sure or same)[0]
        message = f"{len(same)} of {len(repeated)} repeated trials took exactly the same time"
        yield Flag(
            name="zero-spread",
            message=f"{message}, as if copied.",
            remedy="Measure every block; a repetition must not be a copy.",
            arm=first.arm,
            prompt=first.prompt,
        )


def clocks_disagree(evidence: Evidence) -> Iterator[Flag]:
    """The time of the whole answer is not the sum of its rounds' medians."""
    for arm, worst, value, others in _worst_by_arm(evidence, _clock_factor, CLOCK_FACTOR):
        message = f"Whole time and median rounds differ by a factor of {value:.1f}{others}"
        remedy = "Rounds stalled. The estimate uses the medians; a quieter machine would agree."
        yield Flag(name="clocks-disagree", message=message, remedy=remedy, arm=arm, prompt=worst)


def _worst_by_arm(
    evidence: Evidence, measure: Callable[[Repeats], float], limit: float
) -> Iterator[tuple[str, str, float, str]]:
    """Per arm above the limit: arm, worst prompt, its value, and how many prompts are above."""
    by_arm: dict[str, list[tuple[float, str]]] = {}
    for group in repeats(evidence.submission):
        by_arm.setdefault(group.arm, []).append((measure(group), group.prompt))
    for arm, values in by_arm.items():
        value, prompt = max(values)
        above = sum(1 for each, _ in values if each > limit)
        if above:
            others = f" on {prompt}; {above} of {len(values)} prompts are beyond the limit."
            yield arm, prompt, value, others


def _cv(group: Repeats) -> float:
    """Standard deviation over mean; 0 for a single block."""
    times = group.ms_per_token
    return stdev(times) / fmean(times) if len(times) > 1 else 0.0


def _farthest(group: Repeats) -> float:
    center = fmean(group.ms_per_token)
    return max(abs(ms - center) for ms in group.ms_per_token) / center


def _clock_factor(group: Repeats) -> float:
    factors = [
        whole / by_rounds
        for trial in group.trials
        if (whole := decode_ms_per_token(trial)) and (by_rounds := ms_per_token(trial))
    ]
    return max(max(factor, 1 / factor) for factor in factors)
