"""Compute Student's t distribution, and the rank and sign tests of flags.

SciPy has all of them, but importing it takes longer than reading a results file.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist, correlation


@cache
def t_quantile(freedom: float, probability: float) -> float:
    """The quantile of Student's t distribution.

    Newton's method is applied to the upper tail. The tail is convex and the normal quantile is
    nearer to the middle, so steps from there approach the quantile from one side.
    """
    if probability < 0.5:  # noqa: PLR2004 - the lower half mirrors the upper
        return -t_quantile(freedom, 1 - probability)
    found, before = NormalDist().inv_cdf(probability), -1.0
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    while found > before:
        density = scale * (1 + found**2 / freedom) ** (-(freedom + 1) / 2)
        before, found = found, found + (t_tail(found, freedom) - (1 - probability)) / density
    return found


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) for t >= 0: half of the regularized incomplete beta function I_x(freedom/2, 1/2)."""
    x, y = freedom / (freedom + t**2), t**2 / (freedom + t**2)
    if x > (freedom + 2) / (freedom + 5):  # the fraction of the other tail converges faster here
        return 0.5 - _beta(y, x, 0.5, freedom / 2) / 2
    return _beta(x, y, freedom / 2, 0.5) / 2


def _beta(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b), where y = 1 - x, by its continued fraction: https://dlmf.nist.gov/8.17.22."""
    value = 1.0
    for m in range(30 + int(math.sqrt(a + b)), -1, -1):  # evaluated from the end of the fraction
        even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        odd = (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        value = 1 - odd / (1 + even / value)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return float(x**a * y**b) * math.exp(scale) / (a * value)


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of equal length, neither of which is constant."""
    return correlation(_ranks(one), _ranks(other))


def p_of_rank(rank: float, independent: int) -> float:
    """The two-sided p-value of a rank correlation over `independent` values, by Student's t."""
    if abs(rank) >= 1:
        return 0.0
    freedom = independent - 1
    return 2 * t_tail(abs(rank) * math.sqrt(freedom / (1 - rank**2)), freedom)


def p_of_sign(ups: int, downs: int) -> float:
    """The two-sided p-value of the sign test: ups and downs are assumed to be equally likely."""
    several = ups + downs
    tail = sum(math.comb(several, each) for each in range(max(ups, downs), several + 1))
    return min(1.0, 2 * tail * 0.5**several)


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1; equal values get the mean of their ranks."""
    ordered = sorted(values)
    return [(bisect_left(ordered, each) + bisect_right(ordered, each) + 1) / 2 for each in values]
