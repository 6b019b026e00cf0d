"""Flags about a machine that changed while it was measured.

Each change raises one flag. A first block that differs is not a drift. A first block that is part
of a drift has no separate flag.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import mul
from statistics import fmean

from estimates.decomposition import can_draft
from estimates.distributions import p_of_rank, spearman
from estimates.flags.observation import (
    FlagEvidence,
    Observation,
    Repeats,
    bounds,
    shared,
)
from estimates.intervals import t_interval

DRIFT = bounds("drift")
FIRST_BLOCK = bounds("first-block")["least"]


def drift(evidence: FlagEvidence) -> Observation | None:
    """Time per token rises or falls with the running order (Spearman, p < 0.01).

    The trials of one arm and prompt are compared over blocks. Without repetitions, the trials of
    each arm that never drafts are compared over prompts. Each group of compared trials costs one
    degree of freedom.
    """
    slope = _drift_slope(evidence)
    span = max((trial.order for trial in evidence.submission.trials), default=0)
    change = math.expm1(slope * span)
    if abs(change) <= DRIFT["least"]:
        return None
    return Observation(case="slower" if slope > 0 else "faster", change=abs(change))


def first_block(evidence: FlagEvidence) -> Observation | None:
    """The first block is clearly more than 5 % slower or faster than later blocks."""
    ratio = _first_block_ratio(evidence)
    return None if ratio is None else Observation(ratio=ratio)


@shared
def without_drift(evidence: FlagEvidence) -> tuple[Repeats, ...]:
    """The repeated trials with times corrected for the drift."""
    slope = _drift_slope(evidence)
    return tuple(
        replace(
            group,
            ms_per_token=tuple(
                ms * math.exp(-slope * trial.order)
                for trial, ms in zip(group.trials, group.ms_per_token, strict=True)
            ),
        )
        for group in evidence.repeats
    )


@shared
def _drift_slope(evidence: FlagEvidence) -> float:
    """The change in log time per trial; a first block that differs is left out."""
    if _first_block_ratio(evidence) is not None:
        return _slope(_later(evidence))
    groups = evidence.repeats
    repeated = [group for group in groups if len(group.trials) > 1]
    # Without repetitions, prompts are compared: every token of a plain arm is the same work.
    plain = {arm.id for arm in evidence.submission.arms if not can_draft(arm.method)}
    arms = sorted(plain & {group.arm for group in groups})
    return _slope(repeated or [_merged(arm, groups) for arm in arms])


@shared
def _first_block_ratio(evidence: FlagEvidence) -> float | None:
    """The first block's time over later blocks'; `None` if noise or a drift explains the ratio."""
    repeated = [g for g in evidence.repeats if len(g.trials) > 1 and g.trials[0].block == 0]
    slope = _slope(_later(evidence))
    ratios = [
        math.log(group.ms_per_token[0])
        - fmean(math.log(ms) for ms in group.ms_per_token[1:])
        - slope * (group.trials[0].order - fmean(t.order for t in group.trials[1:]))
        for group in repeated
    ]
    interval = t_interval(ratios)
    if interval is None or (interval.low <= 1 + FIRST_BLOCK and interval.high >= 1 - FIRST_BLOCK):
        return None
    return math.exp(fmean(ratios))


def _slope(groups: Sequence[Repeats]) -> float:
    """The change in the log time per trial; 0 unless a rank correlation confirms a change."""
    orders = _centered([[trial.order for trial in group.trials] for group in groups])
    times = _centered([[math.log(ms) for ms in group.ms_per_token] for group in groups])
    independent = len(times) - len(groups)
    if independent < DRIFT["fewest"] or len(set(times)) == 1 or len(set(orders)) == 1:
        return 0.0
    rank = spearman(orders, times)
    if p_of_rank(rank, independent) >= DRIFT["p"]:
        return 0.0
    return math.fsum(map(mul, orders, times)) / math.fsum(map(mul, orders, orders))


def _later(evidence: FlagEvidence) -> list[Repeats]:
    """All groups of repeated trials, without the first trial of each."""
    return [
        replace(group, trials=group.trials[1:], ms_per_token=group.ms_per_token[1:])
        for group in evidence.repeats
        if len(group.trials) > 1
    ]


def _merged(arm: str, groups: Sequence[Repeats]) -> Repeats:
    own = [group for group in groups if group.arm == arm]
    return Repeats(
        arm=arm,
        prompt="",
        trials=tuple(trial for group in own for trial in group.trials),
        ms_per_token=tuple(ms for group in own for ms in group.ms_per_token),
    )


def _centered(groups: Sequence[Sequence[float]]) -> list[float]:
    return [value - fmean(group) for group in groups for value in group]
