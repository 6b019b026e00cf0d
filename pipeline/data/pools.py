"""Intervals of pools: contributors are clusters, their machines and files are nested in them.

A vote is one contributor's figure. What votes of one cell differ by has three parts: between
contributors, between the machines of one, and between the files of one machine. A single cell has
too few votes to estimate the first, so it is estimated over all cells with several votes, starting
from a prior: a spread of 6 % (2.5 % for machines, 2 % for files) with the weight of four degrees of
freedom, a scaled inverse chi-square distribution (Gelman et al., Bayesian Data Analysis, 2.6).
`python -m bench.cells` prints how often these intervals contain the truth.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import bdtr, ndtri

from estimates.intervals import CONFIDENCE, t_reach, variance
from estimates.model import Interval

IntervalKind = Literal["one-contributor", "t", "order"]

BETWEEN_CONTRIBUTORS = 0.06
BETWEEN_MACHINES = 0.025
BETWEEN_FILES = 0.02
PRIOR_FREEDOM = 4
# Other cells weigh no more than this: a cell whose contributors differ more than usual says so.
MOST_FREEDOM = 20
STEP = 0.001  # of the spread that other cells show, as a logarithm: 0.1 %
MOST_CHOICES = 1000
ORDER_VOTES = 8


class Vote(NamedTuple):
    """One contributor in one pool; `half_width` is that of the files' own intervals, as a log.

    `deviation` is the standard deviation of the files' figures, as a log. `shared`: the figure is
    over all tasks, and every contributor ran the same ones.
    """

    pool: str
    voter: str
    speedup: float
    cell: bool = True
    tier: str = "measured"
    shared: bool = False
    half_width: float | None = None
    prompts: int = 2
    machines: int = 1
    files: int = 1
    deviation: float | None = None

    @property
    def error(self) -> float:
        """Standard error over the prompts, as a logarithm; 0 where it is unknown."""
        if self.half_width is None or self.prompts < 2:  # noqa: PLR2004 - one value has no spread
            return 0.0
        return self.half_width / t_reach(self.prompts - 1)

    @property
    def prior(self) -> float:
        """The scale of the prior: the variance of its contributor's figure around the truth."""
        return _prior(self.machines, self.files)


@lru_cache(maxsize=4096)
def _prior(machines: int, files: int) -> float:
    spread = BETWEEN_CONTRIBUTORS**2 + BETWEEN_MACHINES**2 / machines + BETWEEN_FILES**2 / files
    return spread * (PRIOR_FREEDOM - 2) / PRIOR_FREEDOM


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolInterval:
    """The 95 % interval of one pool, how it was found, and the spread between contributors."""

    pool: str
    interval: Interval
    kind: IntervalKind
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """Variance between contributors, with its degrees of freedom."""

    variance: float
    freedom: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """What the cells of one tier with several votes say about the spread between contributors."""

    sums: Mapping[str, tuple[float, int]]
    voters: AbstractSet[str]
    total: float
    freedom: int

    def without(self, votes: Sequence[Vote]) -> _Known:
        """The spread according to the other cells, in front of the prior."""
        own_sum, own_freedom = self.sums.get(votes[0].pool, (0.0, 0))
        others = len(self.voters) - len({vote.voter for vote in votes} & self.voters)
        total, count = self.total - own_sum, self.freedom - own_freedom
        # A contributor may differ alike in all cells, so what counts is how many others there are.
        freedom = min(count, others, MOST_FREEDOM)
        prior = fmean([vote.prior for vote in votes])
        seen = stepped(max(0.0, total) / count) if count else 0.0
        whole = PRIOR_FREEDOM + freedom
        return _Known(variance=(PRIOR_FREEDOM * prior + freedom * seen) / whole, freedom=whole)


def pool_intervals(votes: Iterable[Vote]) -> Iterator[PoolInterval]:
    """One interval per pool that allows one; `votes` come sorted by pool."""
    pools = [tuple(group) for _, group in groupby(votes, key=lambda vote: vote.pool)]
    tiers = {tier: _cells(pools, tier) for tier in {group[0].tier for group in pools}}
    for group in pools:
        known = tiers[group[0].tier].without(group)
        found = _interval(group, known)
        if found is not None:
            interval, kind = found
            yield PoolInterval(
                pool=group[0].pool,
                interval=interval,
                kind=kind,
                spread=math.sqrt(known.variance),
            )


@lru_cache(maxsize=1)
def choice_factors() -> list[dict[str, object]]:
    """By how much the lower bound moves away from a figure that is the best of so many.

    At most one square in twenty shows a gain by luck: each of its figures may in 5 % / choices of
    cases (Bonferroni), and never more often than alone. The factor is that of the normal
    distribution, which for heavier tails errs towards caution only a little; see
    `python -m bench.cells`.
    """
    alone = (1 - CONFIDENCE) / 2
    return [
        {
            "choices": choices,
            "factor": float(ndtri(min(alone, (1 - CONFIDENCE) / choices)) / ndtri(alone)),
        }
        for choices in range(1, MOST_CHOICES + 1)
    ]


def stepped(variance: float, step: float = STEP) -> float:
    """A variance whose root is rounded up to a whole step: one more vote seldom moves it.

    Many figures share it. If it moved by its last digits, so would each of them and each page.
    """
    return (math.ceil(math.sqrt(variance) / step - 1e-9) * step) ** 2


def _cells(pools: Iterable[Sequence[Vote]], tier: str) -> _Cells:
    sums: dict[str, tuple[float, int]] = {}
    voters: set[str] = set()
    for group in pools:
        if group[0].cell and group[0].tier == tier and len(group) > 1:
            freedom = len(group) - 1
            beyond_noise = variance(_logs(group)) - _noise(group)
            sums[group[0].pool] = beyond_noise * freedom, freedom
            voters |= {vote.voter for vote in group}
    return _Cells(
        sums=sums,
        voters=voters,
        total=math.fsum(value for value, _ in sums.values()),
        freedom=sum(freedom for _, freedom in sums.values()),
    )


def _interval(votes: Sequence[Vote], known: _Known) -> tuple[Interval, IntervalKind] | None:
    logs = _logs(votes)
    if len(votes) == 1:
        if votes[0].half_width is None:
            return None
        between = t_reach(known.freedom) * math.sqrt(known.variance)
        half_width = math.hypot(between, votes[0].half_width, _over_places(votes[0]))
        return _around(logs[0], half_width), "one-contributor"
    if len(votes) >= ORDER_VOTES:
        return _order_interval(logs), "order"
    freedom = len(votes) - 1
    spread = variance(logs)
    if votes[0].cell:
        expected = known.variance + _noise(votes)
        spread = (known.freedom * expected + freedom * spread) / (known.freedom + freedom)
        freedom += known.freedom
    over_votes = t_reach(freedom) * math.sqrt(spread / len(votes))
    return _around(fmean(logs), math.hypot(over_votes, _shared(votes))), "t"


def _logs(votes: Sequence[Vote]) -> list[float]:
    return [math.log(vote.speedup) for vote in votes]


def _noise(votes: Sequence[Vote]) -> float:
    """Variance of a vote over its prompts. Shared tasks differ alike for all, so not between."""
    return 0.0 if votes[0].shared else fmean([vote.error**2 for vote in votes])


def _shared(votes: Sequence[Vote]) -> float:
    """Half-width that more contributors do not narrow, because all of them ran the same tasks."""
    known = [vote.half_width for vote in votes if vote.half_width is not None]
    if not votes[0].shared or not votes[0].cell or not known:
        return 0.0
    return math.sqrt(fmean(each**2 for each in known))


def _over_places(vote: Vote) -> float:
    """Half-width over the devices and models that a wider pool than a cell puts together."""
    if vote.cell or vote.deviation is None:
        return 0.0
    return t_reach(vote.files - 1) * vote.deviation / math.sqrt(vote.files)


def _around(centre: float, half_width: float) -> Interval:
    return Interval(low=math.exp(centre - half_width), high=math.exp(centre + half_width))


def _order_interval(logs: Sequence[float]) -> Interval:
    """The interval of the median between two values of the ordered sample, interpolated.

    Exact for any distribution up to the interpolation (Hettmansperger and Sheather 1986, Statistics
    & Probability Letters 4, 75-79). Needs no resampling: a pool may have any number of votes.
    """
    rank, share = _ranks(len(logs))
    ordered = sorted(logs)
    low = (1 - share) * ordered[rank - 1] + share * ordered[rank]
    high = (1 - share) * ordered[-rank] + share * ordered[-rank - 1]
    return Interval(low=math.exp(low), high=math.exp(high))


@lru_cache(maxsize=4096)
def _ranks(count: int) -> tuple[int, float]:
    """Which value from either end holds the confidence, and how far towards the next one."""
    below = bdtr(np.arange(count // 2 + 1), count, 0.5)
    rank = int(np.searchsorted(below, (1 - CONFIDENCE) / 2, side="right"))
    wider, narrower = 1 - 2 * below[rank - 1], 1 - 2 * below[rank]
    part = (wider - CONFIDENCE) / (wider - narrower)
    return rank, float((count - rank) * part / (rank + (count - 2 * rank) * part))
