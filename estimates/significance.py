"""Compute the rank and sign tests that flags use."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import correlation

from estimates.student_t import t_tail


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of equal length, neither of which is constant."""
    return correlation(_ranks(one), _ranks(other))


def p_of_rank(correlation: float, independent: int) -> float:
    """The two-sided p-value of a rank correlation over `independent` values, by Student's t."""
    if abs(correlation) >= 1:
        return 0.0
    freedom = independent - 1
    return 2 * t_tail(abs(correlation) * math.sqrt(freedom / (1 - correlation**2)), freedom)


def p_of_sign(ups: int, downs: int) -> float:
    """The two-sided p-value of the sign test: ups and downs are assumed to be equally likely."""
    several = ups + downs
    tail = sum(math.comb(several, each) for each in range(max(ups, downs), several + 1))
    return min(1.0, 2 * tail * 0.5**several)


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1; equal values get the mean of their ranks."""
    ordered = sorted(values)
    return [(bisect_left(ordered, each) + bisect_right(ordered, each) + 1) / 2 for each in values]
