"""Flags about a machine that changed while it was measured.

Each change raises one flag. A first block that differs is not a drift. A first block that is part
of a drift has no separate flag. A first trial in a slow first block is not a cold start.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import mul
from statistics import fmean, median

from estimates.decomposition import can_draft, tokens_per_round
from estimates.distributions import p_of_rank, spearman
from estimates.flags.observation import (
    FlagEvidence,
    Observation,
    Repeats,
    bounds,
    only,
    shared,
    steady_length,
)
from estimates.intervals import t_interval

DRIFT = bounds("drift")
FIRST_BLOCK = bounds("first-block")["least"]
COLD = bounds("cold-start")


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


def cold_start(evidence: FlagEvidence) -> Observation | None:
    """The first trial of an arm was much slower than the same work later."""
    cold = cold_groups(evidence)
    if not cold:
        return None
    first, prompt = max(cold, key=cold.__getitem__)
    arms = f"{len(cold)} arms, most of all {first}," if len(cold) > 1 else first
    return Observation(
        arms=arms, factor=cold[first, prompt], arm=only(arm for arm, _ in cold), prompt=prompt
    )


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
def cold_groups(evidence: FlagEvidence) -> Mapping[tuple[str, str], float]:
    """The first trial's time over the usual time for each cold start, by arm and prompt."""
    slow_block = max(1.0, _first_block_ratio(evidence) or 1.0)
    cold = {}
    for arm in dict.fromkeys(group.arm for group in evidence.repeats):
        groups = [group for group in evidence.repeats if group.arm == arm]
        first = min(groups, key=lambda group: group.trials[0].order)
        factor, limit = _coldness(first, groups)
        if factor > limit * slow_block:
            cold[first.key] = factor
    return cold


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


def _coldness(first: Repeats, groups: Sequence[Repeats]) -> tuple[float, float]:
    """The ratio of the first trial's time to the time of its repetitions, and the ratio's limit.

    Without repetitions, the time per round is compared with rounds on the arm's other prompts.
    """
    if len(first.trials) > 1:
        return first.ms_per_token[0] / median(first.ms_per_token[1:]), COLD["factor"]
    length = steady_length(first.trials[0])
    own = _round_ms(first, length)
    others = [ms for each in groups if each is not first and (ms := _round_ms(each, length))]
    if own is None or not others:
        return 0.0, COLD["factor_other_prompts"]
    return own / median(others), COLD["factor_other_prompts"]


def _round_ms(group: Repeats, length: int | None) -> float | None:
    """Milliseconds per round of a group's first trial, if its rounds drafted `length` tokens."""
    trial = group.trials[0]
    yielded = tokens_per_round([trial])
    if yielded is None or length is None or steady_length(trial) != length:
        return None
    return group.ms_per_token[0] * yielded


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
