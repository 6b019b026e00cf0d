"""Intervals of means of log ratios, and the rank and chi-square tests of the flags.

All inputs and means are natural logarithms of ratios; `Interval` values are ratios again.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from estimates.model import Interval
from estimates.pairing import PromptPairs

CONFIDENCE = 0.95
# With 2000 resamples the Monte Carlo error of a 2.5 % quantile is about 0.35 % of probability.
RESAMPLES = 2000
SEED = 20261121


def t_interval(log_ratios: Sequence[float]) -> Interval | None:
    """Student's t interval of the geometric mean; `None` with fewer than two values."""
    count = len(log_ratios)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return None
    error = float(np.std(log_ratios, ddof=1)) / math.sqrt(count)
    return _around(float(np.mean(log_ratios)), error, count - 1)


def reaching(interval: Interval | None, ratio: float | None) -> Interval | None:
    """The interval, as far as a ratio by another clock: a reader who times it must find it in."""
    if interval is None or ratio is None:
        return interval
    return Interval(low=min(interval.low, ratio), high=max(interval.high, ratio))


def equal_weight_mean(groups: Sequence[Sequence[float]]) -> float:
    """Mean of the groups' means: every task counts once, however many prompts it has."""
    return _mean([_mean(group) for group in groups])


def _mean(values: Sequence[float]) -> float:
    """What `numpy.mean` returns, in a third of its time for the few values of a task."""
    return float(np.add.reduce(np.asarray(values, dtype=np.float64)) / len(values))


def interval_over_tasks(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Student's t interval of the equal-weight mean of the tasks, from the tasks' means.

    The spread between tasks is in it: an interval from the spread within tasks alone covered the
    truth 40 % of the time where the prompts of a task share an offset. With a single task it is
    that of its prompts.
    """
    if len(groups) == 1:
        return t_interval(groups[0])
    return t_interval([float(np.mean(group)) for group in groups])


def bootstrap_interval(groups: Sequence[Sequence[PromptPairs]]) -> Interval | None:
    """Percentile bootstrap of the equal-weight mean; `None` if a group has fewer than two prompts.

    Prompts are resampled within each group and blocks within each prompt; blocks stay paired.
    The seed is fixed, so that the same file always gives the same figures.
    """
    if not groups or any(len(group) < 2 for group in groups):  # noqa: PLR2004 - nothing to resample
        return None
    rng = np.random.default_rng(SEED)
    means = np.mean([_resampled_means(rng, group) for group in groups], axis=0)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(low=math.exp(low), high=math.exp(high))


def _resampled_means(rng: np.random.Generator, group: Sequence[PromptPairs]) -> NDArray[np.float64]:
    by_prompt = np.stack([_resampled_log_ratios(rng, pairs) for pairs in group])
    shape = (RESAMPLES, len(group))
    prompts = rng.integers(len(group), size=shape)
    # A prompt that is drawn twice must bring two independent draws of its blocks.
    draws = rng.integers(RESAMPLES, size=shape)
    return np.asarray(by_prompt[prompts, draws].mean(axis=1), dtype=np.float64)


def _resampled_log_ratios(rng: np.random.Generator, pairs: PromptPairs) -> NDArray[np.float64]:
    blocks = len(pairs.block_log_ratios)
    chosen = rng.integers(blocks, size=(RESAMPLES, blocks))
    drawn = np.asarray(pairs.block_log_ratios, dtype=np.float64)[chosen]
    if blocks > 2:  # noqa: PLR2004 - the mean of two is the same in either order
        drawn.sort(axis=1)
    # The median, without the checks that numpy makes for each of a thousand small arrays.
    return (drawn[:, (blocks - 1) // 2] + drawn[:, blocks // 2]) / 2


def t_quantile(freedom: float, probability: float) -> float:
    """Quantile of Student's t distribution."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    return float(stdtrit(freedom, probability))


def _around(mean: float, error: float, freedom: float) -> Interval:
    half_width = t_quantile(freedom, (1 + CONFIDENCE) / 2) * error
    return Interval(low=math.exp(mean - half_width), high=math.exp(mean + half_width))


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of one length, neither of them constant."""
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def p_of_rank(correlation: float, independent: int) -> float:
    """Two-sided p of a rank correlation over so many independent values, by Student's t."""
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    if abs(correlation) >= 1:
        return 0.0
    freedom = independent - 1
    statistic = abs(correlation) * math.sqrt(freedom / (1 - correlation**2))
    return float(2 * stdtr(freedom, -statistic))


def p_of_even(counts: Sequence[int]) -> float:
    """P of Pearson's chi-square test that all counts have the same expectation."""
    from scipy.special import chdtrc  # noqa: PLC0415 - slow to import

    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    return float(chdtrc(len(counts) - 1, statistic))


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)
