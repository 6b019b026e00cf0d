"""Intervals of means of log ratios.

All inputs and means are natural logarithms of ratios; `Interval` values are ratios again.
"""

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from estimates.model import Interval
from estimates.pairing import PromptPairs
from estimates.student_t import t_quantile

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
    mean, error = fmean(log_ratios), deviation(log_ratios) / math.sqrt(count)
    half_width = t_reach(count - 1) * error
    return Interval(low=math.exp(mean - half_width), high=math.exp(mean + half_width))


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
    """Widen the interval until it contains the ratio measured by the wall clock."""
    if interval is None or ratio is None:
        return interval
    return Interval(low=min(interval.low, ratio), high=max(interval.high, ratio))


def equal_weight_mean(groups: Sequence[Sequence[float]]) -> float:
    """Mean of the groups' means: every task counts once, however many prompts it has."""
    return fmean(map(fmean, groups))


def interval_over_tasks(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Student's t interval of the equal-weight mean of the tasks, from the tasks' means.

    The spread between tasks is in it: an interval from the spread within tasks alone covered the
    truth 40 % of the time where the prompts of a task share an offset. With a single task it is
    that of its prompts.
    """
    if len(groups) == 1:
        return t_interval(groups[0])
    return t_interval([*map(fmean, groups)])


def bootstrap_interval(
    groups: Sequence[tuple[PromptPairs, ...]], resampled: Resampled | None = None
) -> Interval | None:
    """Percentile bootstrap of the equal-weight mean; `None` if a group has fewer than two prompts.

    Prompts are resampled within each group and blocks within each prompt; blocks stay paired.
    `resampled` may cache: each task counts by itself and among all tasks.
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
    """The means of a task's resamples. The task's name is the seed, so they never change."""
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
