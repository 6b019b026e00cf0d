"""Compute the time ratio of two arms and its interval from both arms' times on every prompt.

A speedup is the time without speculation over the time with it, for the same tokens. All tasks have
the same weight. Let x_p and y_p be the two times of a prompt and n_k the number of prompts of task
k of T:

    X = (1 / T) sum over k of (1 / n_k) sum over p in k of x_p;  Y the same with y_p;  ratio = X / Y

The interval predicts other prompts of the same tasks: the tasks are strata, not a sample. The
logarithm of the ratio is linearised (Cochran 1977, Sampling Techniques, 6.4 and 6.11):

    d_p = (x_p - ratio * y_p) / X
    v_k = variance of d_p in task k / (n_k T^2)
    half-width = t(f) * sqrt(sum of v_k),  f = (sum of v_k)^2 / sum of (v_k^2 / (n_k + 1)) - 2

with Student's t. The degrees of freedom f are Satterthwaite's, in Welch's form for few prompts
(1947, Biometrika 34, 28-35), and at most the sum of n_k - 1. The usual form has n_k - 1 in place of
n_k + 1, and lacks the - 2: with two prompts per task, its interval is a quarter too wide.
`python -m bench.campaigns` measures the coverage.

The more figures there are, the likelier it is that one is high by luck. The lower bound of the best
of `choices` figures is therefore moved so that it is too high in only CHOICE_ERROR / choices of
cases (Bonferroni). If nothing gains, a gain is then claimed in at most 2 % of cases. The bound's
log distance from the figure grows by the ratio of two quantiles of Student's t distribution. It has
the 7 degrees of freedom of a task with eight prompts, or fewer for a task with fewer prompts.

With the normal distribution instead, a terminal that picks the best of 104 pairs of task and arm
erred in 21 % of 1,500 simulated files in which nothing gains (`python -m bench.choices`).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import TypeAlias

from estimates.distributions import t_quantile
from estimates.model import Estimate, Interval

CONFIDENCE = 0.95
CHOICE_ERROR = 0.02
TASK_FREEDOM = 7
# Larger numbers of choices are rounded up to two digits: 123 counts as 130.
EXACT_CHOICES = 100
Times: TypeAlias = tuple[float, float]  # the times of one prompt without and with speculation
Strata: TypeAlias = Sequence[Sequence[Times]]  # the prompts of each task


def mean_over_tasks(groups: Sequence[Sequence[float]]) -> float:
    """The mean of the groups' means: every task counts once, however many prompts it has."""
    return fmean([fmean(group) for group in groups])  # a list is ten times as fast as a generator


def mean_times(strata: Strata) -> Times:
    """The mean time of each arm: the mean over tasks of the mean over prompts."""
    return (
        mean_over_tasks([[plain for plain, _ in group] for group in strata]),
        mean_over_tasks([[own for _, own in group] for group in strata]),
    )


def time_ratio(strata: Strata) -> float:
    """The time without speculation over the time with it; every task has at least one prompt."""
    plain, own = mean_times(strata)
    return plain / own


def ratio_interval(strata: Strata) -> Interval | None:
    """The 95 % interval of the time ratio; `None` with fewer than two prompts."""
    spread = spread_of_mean(residuals(strata))
    if spread is None:
        return None
    ratio, half_width = time_ratio(strata), spread[0] * t_reach(spread[1])
    return Interval(low=ratio * math.exp(-half_width), high=ratio * math.exp(half_width))


def change_of_ratio(base: Strata, head: Strata, level: float) -> tuple[float, Interval | None]:
    """The time ratio of `head` over the time ratio of `base`, and the interval at `level`.

    Both have the same prompts in order; the variation between prompts cancels in the interval.
    """
    means = mean_times(base), mean_times(head)
    change = means[1][0] / means[1][1] / (means[0][0] / means[0][1])
    moved = zip(residuals(base, means[0]), residuals(head, means[1]), strict=True)
    spread = spread_of_mean([[y - x for x, y in zip(*each, strict=True)] for each in moved])
    if spread is None:
        return change, None
    half_width = spread[0] * t_quantile(spread[1], (1 + level) / 2)
    return change, Interval(low=change * math.exp(-half_width), high=change * math.exp(half_width))


def residuals(strata: Strata, means: Times | None = None) -> list[list[float]]:
    """Each prompt's effect on the log of the ratio, by task: the d_p of the module's docstring."""
    plain, own = means or mean_times(strata)
    return [[(x - plain / own * y) / plain for x, y in group] for group in strata]


def spread_of_mean(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """The standard error of the mean of the groups' means, and its degrees of freedom.

    Groups with one value have no spread, so they are pooled; if there is only one such group, it is
    pooled with the smallest other group. The spread of a pool includes the differences between
    tasks, so it errs towards caution. The result is `None` with only one value in total.
    """
    alone = [group for group in groups if len(group) == 1]
    several = sorted((group for group in groups if len(group) > 1), key=len)
    if len(alone) == 1 and several:
        alone.append(several.pop(0))
    if len(alone) == 1:
        return None
    parts = [(variance(group) / len(group), len(group) - 1) for group in several]
    if alone:
        pooled = [value for group in alone for value in group]
        shares = sum(1 / len(group) for group in alone)
        parts.append((variance(pooled) * shares, len(pooled) - 1))
    total = math.fsum(part for part, _ in parts)
    most = float(sum(degrees for _, degrees in parts))
    if total == 0:
        return 0.0, most
    freedom = total**2 / math.fsum(part**2 / (degrees + 2) for part, degrees in parts) - 2
    return math.sqrt(total) / len(groups), min(freedom, most)


def t_interval(logs: Sequence[float]) -> Interval | None:
    """Student's t interval for a mean of log ratios, as a ratio; `None` for fewer than two."""
    count = len(logs)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return None
    mean, half_width = fmean(logs), t_reach(count - 1) * deviation(logs) / math.sqrt(count)
    return Interval(low=math.exp(mean - half_width), high=math.exp(mean + half_width))


def deviation(values: Sequence[float]) -> float:
    """The sample standard deviation of at least two values; exactly 0 if all are equal."""
    return math.sqrt(variance(values))


def variance(values: Sequence[float]) -> float:
    """The sample variance, ten times faster than `statistics` but off in the last two digits.

    It uses differences from the first value, so that a common offset costs no precision.
    """
    first = values[0]
    offsets = [value - first for value in values]
    center = math.fsum(offsets) / len(offsets)
    return math.fsum((each - center) ** 2 for each in offsets) / (len(offsets) - 1)


def reaching(interval: Interval | None, ratio: float | None) -> Interval | None:
    """Widen an interval until it contains `ratio`; unchanged if the ratio is unknown."""
    if interval is None or ratio is None:
        return interval
    return Interval(low=min(interval.low, ratio), high=max(interval.high, ratio))


def t_reach(freedom: float) -> float:
    """The half-width of a 95 % interval in standard errors, by degrees of freedom."""
    return t_quantile(freedom, (1 + CONFIDENCE) / 2)


@cache
def choice_factor(choices: int, freedom: int = TASK_FREEDOM) -> float:
    """The factor on the log distance between the best of `choices` figures and its lower bound."""
    if choices <= 1:
        return 1.0
    alone = t_quantile(freedom, (1 + CONFIDENCE) / 2)
    return t_quantile(freedom, 1 - CHOICE_ERROR / counted_choices(choices)) / alone


def counted_choices(choices: int) -> int:
    """The number of choices, rounded up to two digits if it is above `EXACT_CHOICES`."""
    step = 10 ** max(0, len(str(choices - 1)) - 2) if choices > EXACT_CHOICES else 1
    return -(-choices // step) * step


def corrected(
    interval: Interval, speedup: float, choices: int, freedom: int = TASK_FREEDOM
) -> Interval:
    """The interval of the best of `choices` figures; its lower bound allows for the choice."""
    low = speedup * (interval.low / speedup) ** choice_factor(choices, freedom)
    return replace(interval, low=min(interval.low, low))


def corrected_estimate(estimate: Estimate, choices: int) -> Interval | None:
    """The corrected interval of the best of `choices` arms; `None` if the arm has no interval."""
    if estimate.interval is None or estimate.speedup is None:
        return None
    own = TASK_FREEDOM if estimate.task is None else estimate.prompts - 1
    freedom = max(1, min(TASK_FREEDOM, own))
    return corrected(estimate.interval, estimate.speedup, choices, freedom)
