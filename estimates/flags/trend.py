"""Did the machine change while it was measured?"""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from estimates.decomposition import can_draft, tokens_per_round
from estimates.flags.evidence import Repeats, percent, repeats, steady_length
from estimates.intervals import t_interval
from estimates.model import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from estimates.flags.evidence import Evidence

DRIFT_P = 0.01
# In a long campaign a drift of a few per mille is significant and of no consequence.
DRIFT_FLOOR = 0.02
FIRST_BLOCK = 0.05
COLD_FACTOR = 1.25
COLD_FACTOR_OTHER_PROMPTS = 1.5
_FEWEST_FOR_TREND = 6


def drift(evidence: Evidence) -> Iterator[Flag]:
    """Time per token rises or falls with the running order (Spearman, p < .01).

    Times are compared within one arm and prompt, over blocks. Without repetitions the arms that
    never draft are compared over their prompts. Each group costs one degree of freedom.
    """
    groups = _comparable(evidence)
    orders = _centered([[trial.order for trial in group.trials] for group in groups])
    times = _centered([[math.log(ms) for ms in group.ms_per_token] for group in groups])
    independent = len(times) - len(groups)
    if independent < _FEWEST_FOR_TREND or np.ptp(times) == 0 or np.ptp(orders) == 0:
        return
    rank = float(stats.spearmanr(orders, times).statistic)
    slope = float(np.dot(orders, times) / np.dot(orders, orders))
    span = max(t.order for t in evidence.submission.trials)
    change = math.expm1(abs(slope) * span)
    if _p_value(rank, independent) < DRIFT_P and change > DRIFT_FLOOR:
        direction = "slower" if slope > 0 else "faster"
        message = f"The machine became {direction}: {percent(change)} from first to last trial."
        remedy = "Let it reach its steady temperature first, and stop other programs."
        yield Flag(name="drift", message=message, remedy=remedy)


def first_block(evidence: Evidence) -> Iterator[Flag]:
    """The first block is slower or faster than the others, beyond its interval and 5 %."""
    ratios = [
        math.log(group.ms_per_token[0]) - fmean(math.log(ms) for ms in group.ms_per_token[1:])
        for group in repeats(evidence.submission)
        if len(group.trials) > 1 and group.trials[0].block == 0
    ]
    interval = t_interval(ratios)
    if interval is None:
        return
    if interval.low > 1 + FIRST_BLOCK or interval.high < 1 - FIRST_BLOCK:
        ratio = math.exp(fmean(ratios))
        yield Flag(
            name="first-block",
            message=f"The first block took {ratio:.2f} times as long as the others.",
            remedy="Warm up longer, with speculation on, before the first trial.",
        )


def cold_start(evidence: Evidence) -> Iterator[Flag]:
    """The first trial of an arm was much slower than the same work later."""
    by_arm: dict[str, list[Repeats]] = {}
    for group in repeats(evidence.submission):
        by_arm.setdefault(group.arm, []).append(group)
    for arm, groups in by_arm.items():
        first = min(groups, key=lambda group: group.trials[0].order)
        factor, limit = _coldness(first, groups)
        if factor > limit:
            yield Flag(
                name="cold-start",
                message=f"Its first trial took {factor:.1f} times as long as later ones.",
                remedy="Run a full warm-up generation of this arm, with speculation on.",
                arm=arm,
                prompt=first.prompt,
            )


def _coldness(first: Repeats, groups: Sequence[Repeats]) -> tuple[float, float]:
    """First trial over its repetitions, or over the other prompts' rounds; and the limit."""
    if len(first.trials) > 1:
        return first.ms_per_token[0] / median(first.ms_per_token[1:]), COLD_FACTOR
    length = steady_length(first.trials[0])
    own = _round_ms(first, length)
    others = [ms for each in groups if each is not first and (ms := _round_ms(each, length))]
    if own is None or not others:
        return 0.0, COLD_FACTOR_OTHER_PROMPTS
    return own / median(others), COLD_FACTOR_OTHER_PROMPTS


def _round_ms(group: Repeats, length: int | None) -> float | None:
    """Milliseconds of a round in the first trial, if its rounds drafted `length` tokens."""
    trial = group.trials[0]
    yielded = tokens_per_round([trial])
    if yielded is None or length is None or steady_length(trial) != length:
        return None
    return group.ms_per_token[0] * yielded


def _comparable(evidence: Evidence) -> list[Repeats]:
    """Groups of trials that did the same work at different times."""
    groups = repeats(evidence.submission)
    repeated = [group for group in groups if len(group.trials) > 1]
    plain = {arm.id for arm in evidence.submission.arms if not can_draft(arm.method)}
    return repeated or [_merged(arm, groups) for arm in sorted(plain & {g.arm for g in groups})]


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


def _p_value(rank: float, independent: int) -> float:
    """Two-sided p of a rank correlation over so many independent values."""
    if abs(rank) >= 1:
        return 0.0
    freedom = independent - 1
    statistic = abs(rank) * math.sqrt(freedom / (1 - rank**2))
    return float(2 * stats.t.sf(statistic, freedom))
