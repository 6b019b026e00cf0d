"""Flags about repetitions of the same trial that disagree, or agree too well.

One disturbance is one flag. What a drift or a cold start explains is left to that flag; single
trials that were disturbed are `block-outlier`, a machine that is restless throughout is
`block-spread`, and `clocks-disagree` is about the trials that neither of them names.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from estimates.flags.evidence import Evidence, Repeats, once, only
from estimates.flags.trend import cold_groups, without_drift
from estimates.intervals import deviation
from estimates.model import Flag
from estimates.pairing import decode_ms_per_token, ms_per_token
from schemas.vocabulary import say

BLOCK_CV = 0.10
FAR_FROM_MEAN = 0.50
# Above this share of all trials, outliers are no exceptions any more.
OUTLIERS_ARE_THE_RULE = 0.20
CLOCK_FACTOR = 1.5
# Rounded times may coincide once in a while; more than this share of coincidences is no chance.
ZERO_SPREAD_SHARE = 0.05
_SURE_REPEATS = 3
# Clocks of quiet machines repeat to a few tenths of a percent. Most times of a whole block within a
# tenth of another block's, up to one common factor, are a copy with a little noise added.
COPY_TOLERANCE, COPY_SHARE, FEWEST_COPIED = 0.001, 0.9, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """The groups of repeated trials that are beyond a limit; there is at least one."""

    groups: tuple[Repeats, ...]
    worst: Repeats
    value: float

    def flag(self, name: str, evidence: Evidence, *, message: str, remedy: str) -> Flag:
        """One flag over all of them; the message gets a sentence with counts and the worst."""
        prompts = {group.prompt for group in self.groups}
        arms = {group.arm for group in self.groups}
        among = {group.prompt for group in evidence.repeats if group.arm in arms}
        place = f"on {len(prompts)} of {say.count(len(among), 'prompt')}"
        if len(arms) > 1:
            place += f" in {len(arms)} arms"
        return Flag(
            name=name,
            severity="note" if name == "clocks-disagree" else "caution",
            message=f"{message}, {place}; most with {self.worst.arm} on {self.worst.prompt}.",
            remedy=remedy,
            arm=only(arms),
            prompt=self.worst.prompt,
        )


def block_spread(evidence: Evidence) -> Flag | None:
    """The same trial takes different times in different blocks (CV above 10 %)."""
    spread = _restless(evidence)
    if spread is None:
        return None
    value = say.percent(spread.value)
    return spread.flag(
        "block-spread",
        evidence,
        message=f"From block to block the time per token varies (by up to {value})",
        remedy="Close other programs, let the machine settle, and measure more blocks (--blocks).",
    )


def block_outlier(evidence: Evidence) -> Flag | None:
    """Single blocks are more than half away from the mean of their blocks."""
    outliers = _exceptions(evidence)
    if outliers is None:
        return None
    return outliers.flag(
        "block-outlier",
        evidence,
        message=f"Single blocks are far (up to {say.percent(outliers.value)}) from their mean",
        remedy="Something disturbed the machine; measure again or add blocks (--blocks).",
    )


def zero_spread(evidence: Evidence) -> Flag | None:
    """Repetitions took exactly the same time, which clocks do not do."""
    repeated = [group for group in evidence.repeats if len(group.trials) > 1]
    same = [group for group in repeated if len({t.decode_ms for t in group.trials}) == 1]
    sure = [group for group in same if len(group.trials) >= _SURE_REPEATS]
    if not sure and len(same) <= ZERO_SPREAD_SHARE * len(repeated):
        return None
    message = f"{len(same)} of {len(repeated)} repeated trials took exactly the same time"
    return Flag(
        name="zero-spread",
        severity="serious",
        message=f"{message}, as if copied.",
        remedy="Measure every block; a repetition must not be a copy.",
        arm=only(group.arm for group in same),
        prompt=(sure or same)[0].prompt,
    )


def repeated_block(evidence: Evidence) -> Flag | None:
    """A block's times are those of the block before, up to a common factor and 0.1 %."""
    by_block: dict[int, dict[tuple[str, str], float]] = {}
    for group in evidence.repeats:
        for trial, ms in zip(group.trials, group.ms_per_token, strict=True):
            by_block.setdefault(trial.block, {})[group.arm, group.prompt] = math.log(ms)
    copied = [
        (second, share)
        for first, second in _pairs(sorted(by_block))
        if (share := _share_alike(by_block[first], by_block[second])) >= COPY_SHARE
    ]
    if not copied or zero_spread(evidence) is not None:
        return None
    block, share = max(copied, key=lambda pair: pair[1])
    return Flag(
        name="repeated-block",
        severity="serious",
        message=(
            f"{say.percent(share)} of the times of block {block} are those of an earlier block "
            "within 0.1 %, up to a common factor."
        ),
        remedy="Measure every block; a repetition must not be a copy.",
    )


def _pairs(blocks: Sequence[int]) -> list[tuple[int, int]]:
    return [(a, b) for place, b in enumerate(blocks) for a in blocks[:place]]


def _share_alike(
    first: Mapping[tuple[str, str], float], second: Mapping[tuple[str, str], float]
) -> float:
    """The share of common trials whose times have one ratio within the tolerance."""
    ratios = [second[key] - first[key] for key in first.keys() & second.keys()]
    if len(ratios) < FEWEST_COPIED:
        return 0.0
    center = median(ratios)
    return sum(abs(ratio - center) <= COPY_TOLERANCE for ratio in ratios) / len(ratios)


def clocks_disagree(evidence: Evidence) -> Flag | None:
    """The time of the whole answer is not the sum of its rounds' medians."""
    flagged = (_restless(evidence), _exceptions(evidence))
    known = {(group.arm, group.prompt) for each in flagged if each for group in each.groups}
    rest = [group for group in evidence.repeats if (group.arm, group.prompt) not in known]
    stalled = _beyond(rest, _clock_factor, CLOCK_FACTOR)
    if stalled is None:
        return None
    return stalled.flag(
        "clocks-disagree",
        evidence,
        message=f"Whole time and median rounds differ by a factor of up to {stalled.value:.1f}",
        remedy="Rounds stalled. Single stalls are left out; a quieter machine would agree.",
    )


@once
def steady_groups(evidence: Evidence) -> frozenset[tuple[str, str]]:
    """Arm and prompt of the repeated trials that agree with each other."""
    return frozenset(
        (group.arm, group.prompt) for group in without_drift(evidence) if _cv(group) <= BLOCK_CV
    )


@once
def _restless(evidence: Evidence) -> Beyond | None:
    """Groups with a spread, except for what single disturbed blocks or a cold start explain."""
    outliers = _exceptions(evidence)
    named = outliers.groups if outliers else ()
    return _beyond([g for g in _unexplained(evidence) if g not in named], _cv, BLOCK_CV)


@once
def _exceptions(evidence: Evidence) -> Beyond | None:
    """Groups with an outlier, if they are few."""
    outliers = _beyond(_unexplained(evidence), _farthest, FAR_FROM_MEAN)
    if outliers is None or len(outliers.groups) > OUTLIERS_ARE_THE_RULE * len(evidence.repeats):
        return None
    return outliers


def _unexplained(evidence: Evidence) -> list[Repeats]:
    """The repeated trials without the drift, except where a cold start was found."""
    cold = cold_groups(evidence)
    return [g for g in without_drift(evidence) if (g.arm, g.prompt) not in cold]


def _beyond(
    groups: Sequence[Repeats], measure: Callable[[Repeats], float], limit: float
) -> Beyond | None:
    values = [(value, group) for group in groups if (value := measure(group)) > limit]
    if not values:
        return None
    value, worst = max(values, key=lambda pair: pair[0])
    return Beyond(groups=tuple(group for _, group in values), worst=worst, value=value)


def _cv(group: Repeats) -> float:
    """Standard deviation over mean; 0 for a single block."""
    times = group.ms_per_token
    return deviation(times) / fmean(times) if len(times) > 1 else 0.0


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
