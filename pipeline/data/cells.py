"""Intervals of medians over a few votes, by the method that the number of votes allows.

One vote: the submission's own interval, marked `within`. Two to seven: t interval on log speedups.
Eight or more: BCa bootstrap of the median (Efron 1987, `scipy.stats.bootstrap`), or the percentile
bootstrap where nearly all votes are equal and BCa is undefined. Pooling raw runs instead covers the
truth far too rarely; a bootstrap of five values or fewer does too.
"""

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from scipy import stats

from estimates.model import Interval

IntervalKind = Literal["within", "t", "bca", "percentile"]

CONFIDENCE = 0.95
BOOTSTRAP_VOTES = 8
RESAMPLES = 9999
SEED = 20261121  # any fixed number: the same votes must give the same bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One contributor on one machine in one pool; the interval is that of its own evidence."""

    pool: str
    speedup: float
    within: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolInterval:
    """The 95 % interval of one pool and how it was found."""

    pool: str
    interval: Interval
    kind: IntervalKind


def pool_intervals(votes: Iterable[Vote]) -> Iterator[PoolInterval]:
    """One interval per pool that allows one; `votes` come sorted by pool."""
    for pool, group in groupby(votes, key=lambda vote: vote.pool):
        found = _interval(tuple(group))
        if found is not None:
            yield PoolInterval(pool=pool, interval=found[0], kind=found[1])


def _interval(votes: tuple[Vote, ...]) -> tuple[Interval, IntervalKind] | None:
    if len(votes) == 1:
        within = votes[0].within
        return None if within is None else (within, "within")
    logs = np.log([vote.speedup for vote in votes])
    if len(votes) < BOOTSTRAP_VOTES:
        return _t_interval(logs), "t"
    return _bootstrap_interval(logs)


def _t_interval(logs: np.ndarray) -> Interval:
    centre = float(np.mean(logs))
    spread = float(np.std(logs, ddof=1)) / math.sqrt(len(logs))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1)) * spread
    return Interval(low=math.exp(centre - half), high=math.exp(centre + half))


def _bootstrap_interval(logs: np.ndarray) -> tuple[Interval, IntervalKind]:
    kind: IntervalKind = "bca"
    low, high = _bootstrap(logs, "BCa")
    if not (math.isfinite(low) and math.isfinite(high)):
        kind = "percentile"
        low, high = _bootstrap(logs, "percentile")
    return Interval(low=math.exp(low), high=math.exp(high)), kind


def _bootstrap(logs: np.ndarray, method: str) -> tuple[float, float]:
    """The bounds, not a number where the method is undefined for these votes."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):  # the caller looks at the NaN
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (logs,),
            np.median,
            confidence_level=CONFIDENCE,
            n_resamples=RESAMPLES,
            method=method,
            rng=np.random.default_rng(SEED),
        ).confidence_interval
    return float(found.low), float(found.high)
