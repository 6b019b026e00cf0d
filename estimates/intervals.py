"""Intervals of means of log ratios, and the rank and chi-square tests of the flags.

All inputs and means are natural logarithms of ratios; `Interval` values are ratios again.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from statistics import NormalDist, correlation
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from estimates.model import Interval
from estimates.pairing import PromptPairs

if TYPE_CHECKING:  # only the bootstrap needs it, and it takes longer to import than a file to judge
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95
# With 2000 resamples the Monte Carlo error of a 2.5 % quantile is about 0.35 % of probability.
RESAMPLES = 2000
Resampled: TypeAlias = Callable[[tuple[PromptPairs, ...]], "NDArray[np.float64]"]
SEED = 20261121


def t_interval(log_ratios: Sequence[float]) -> Interval | None:
    """Student's t interval of the geometric mean; `None` with fewer than two values."""
    count = len(log_ratios)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return None
    return _around(_mean(log_ratios), deviation(log_ratios) / math.sqrt(count), count - 1)


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation of at least two values; of equal ones exactly 0."""
    return math.sqrt(variance(values))


def variance(values: Sequence[float]) -> float:
    """Sample variance to the last digit or two; `statistics` takes ten times as long to be exact.

    By differences from the first value, so that a common offset costs no digits.
    """
    first = values[0]
    offsets = [value - first for value in values]
    center = math.fsum(offsets) / len(offsets)
    return math.fsum((each - center) ** 2 for each in offsets) / (len(offsets) - 1)


def reaching(interval: Interval | None, ratio: float | None) -> Interval | None:
    """The interval, as far as a ratio by another clock: a reader who times it must find it in."""
    if interval is None or ratio is None:
        return interval
    return Interval(low=min(interval.low, ratio), high=max(interval.high, ratio))


def equal_weight_mean(groups: Sequence[Sequence[float]]) -> float:
    """Mean of the groups' means: every task counts once, however many prompts it has."""
    return _mean([_mean(group) for group in groups])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def interval_over_tasks(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Student's t interval of the equal-weight mean of the tasks, from the tasks' means.

    The spread between tasks is in it: an interval from the spread within tasks alone covered the
    truth 40 % of the time where the prompts of a task share an offset. With a single task it is
    that of its prompts.
    """
    if len(groups) == 1:
        return t_interval(groups[0])
    return t_interval([_mean(group) for group in groups])


def bootstrap_interval(
    groups: Sequence[tuple[PromptPairs, ...]], resampled: Resampled | None = None
) -> Interval | None:
    """Percentile bootstrap of the equal-weight mean; `None` if a group has fewer than two prompts.

    Prompts are resampled within each group and blocks within each prompt; blocks stay paired.
    `resampled` may remember: a task is asked for alone and with the others.
    """
    if not groups or any(len(group) < 2 for group in groups):  # noqa: PLR2004 - nothing to resample
        return None
    import numpy as np  # noqa: PLC0415 - see above

    means = np.mean([(resampled or resampled_means)(group) for group in groups], axis=0)
    means.sort()
    tail = (1 - CONFIDENCE) / 2
    low, high = (_quantile(means, each) for each in (tail, 1 - tail))
    return Interval(low=math.exp(low), high=math.exp(high))


def _quantile(ordered: "NDArray[np.float64]", share: float) -> float:
    """Interpolated between two of the sorted values, as `numpy.quantile` does by default."""
    place = share * (len(ordered) - 1)
    before, after = ordered[math.floor(place)], ordered[math.ceil(place)]
    return float(before + (after - before) * (place - math.floor(place)))


def resampled_means(group: tuple[PromptPairs, ...]) -> "NDArray[np.float64]":
    """The means of a task's resamples. Its seed is that of its name: the same at every time."""
    import numpy as np  # noqa: PLC0415 - see above

    rng = np.random.default_rng([SEED, crc32(group[0].prompt.task.encode())])
    logs = (np.asarray(pairs.block_log_ratios, dtype=np.float64) for pairs in group)
    by_prompt = np.stack([_resampled_log_ratios(rng, each) for each in logs])
    shape = (RESAMPLES, len(group))
    prompts = rng.integers(len(group), size=shape)
    # A prompt that is drawn twice must bring two independent draws of its blocks.
    draws = rng.integers(RESAMPLES, size=shape)
    chosen = by_prompt.ravel().take(prompts * RESAMPLES + draws)
    return np.asarray(chosen.mean(axis=1), dtype=np.float64)


def _resampled_log_ratios(
    rng: "np.random.Generator", logs: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    blocks = len(logs)
    drawn = logs[rng.integers(blocks, size=(RESAMPLES, blocks))]
    if blocks > 2:  # noqa: PLR2004 - the mean of two is the same in either order
        drawn.sort(axis=1)
    # The median, without the checks that numpy makes for each of a thousand small arrays.
    return (drawn[:, (blocks - 1) // 2] + drawn[:, blocks // 2]) / 2


def t_reach(freedom: float) -> float:
    """How many standard errors an interval of 95 % reaches either way, by degrees of freedom."""
    return t_quantile(freedom, (1 + CONFIDENCE) / 2)


@cache
def t_quantile(freedom: float, probability: float) -> float:
    """Quantile of Student's t distribution.

    Newton's method on the upper tail, which is convex: from the normal quantile, which is nearer
    to the middle, it comes to the quantile from one side. SciPy has it too, but takes longer to
    import than a file takes to read.
    """
    if probability < 0.5:  # noqa: PLR2004 - the lower half mirrors the upper
        return -t_quantile(freedom, 1 - probability)
    found, before = NormalDist().inv_cdf(probability), -1.0
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    while found > before:
        density = scale * (1 + found**2 / freedom) ** (-(freedom + 1) / 2)
        before, found = found, found + (_t_tail(found, freedom) - (1 - probability)) / density
    return found


def _t_tail(t: float, freedom: float) -> float:
    """P(T > t) for t >= 0: half of the regularized incomplete beta function I_x(freedom/2, 1/2)."""
    x, y = freedom / (freedom + t**2), t**2 / (freedom + t**2)
    if x > (freedom + 2) / (freedom + 5):  # the fraction of the other tail converges faster there
        return 0.5 - _beta(y, x, 0.5, freedom / 2) / 2
    return _beta(x, y, freedom / 2, 0.5) / 2


def _beta(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b), where y = 1 - x, by its continued fraction: https://dlmf.nist.gov/8.17.22."""
    value = 1.0
    for m in range(30 + int(math.sqrt(a + b)), -1, -1):  # from the end of the fraction
        even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        odd = (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        value = 1 - odd / (1 + even / value)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return float(x**a * y**b) * math.exp(scale) / (a * value)


def _around(mean: float, error: float, freedom: float) -> Interval:
    half_width = t_reach(freedom) * error
    return Interval(low=math.exp(mean - half_width), high=math.exp(mean + half_width))


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of one length, neither of them constant."""
    return correlation(_ranks(one), _ranks(other))


def p_of_rank(correlation: float, independent: int) -> float:
    """Two-sided p of a rank correlation over so many independent values, by Student's t."""
    if abs(correlation) >= 1:
        return 0.0
    freedom = independent - 1
    return 2 * _t_tail(abs(correlation) * math.sqrt(freedom / (1 - correlation**2)), freedom)


def p_of_even(counts: Sequence[int]) -> float:
    """P of Pearson's chi-square test that all counts have the same expectation.

    The upper incomplete gamma function by its recurrence: https://dlmf.nist.gov/8.8.E6.
    """
    expected = sum(counts) / len(counts)
    half = sum((count - expected) ** 2 for count in counts) / expected / 2
    twice = len(counts) - 1  # degrees of freedom
    p = math.erfc(math.sqrt(half)) if twice % 2 else math.exp(-half)
    for order in range(1 if twice % 2 else 2, twice, 2):
        p += half ** (order / 2) * math.exp(-half) / math.gamma(order / 2 + 1)
    return p


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, each) + bisect_right(ordered, each) + 1) / 2 for each in values]
