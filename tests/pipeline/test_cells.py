"""The interval of a cell depends on how many votes there are, and on nothing else."""

import math

import pytest

from estimates.model import Interval
from pipeline.data.aggregate import Vote, pool_intervals


def votes(*speedups: float, within: Interval | None = None) -> list[Vote]:
    return [Vote(pool="p", speedup=speedup, within=within) for speedup in speedups]


def test_a_single_vote_shows_its_own_interval_and_says_so() -> None:
    own = Interval(low=1.1, high=1.3)

    (found,) = pool_intervals(votes(1.2, within=own))

    assert (found.interval, found.kind) == (own, "within")


def test_a_single_vote_without_an_interval_gets_none() -> None:
    assert list(pool_intervals(votes(1.2))) == []


def test_three_votes_get_the_t_interval_on_their_logarithms() -> None:
    # ln: 0.0953102, 0.1823216, 0.2623643; mean 0.1799987, standard error 0.0482384;
    # t(0.975, 2) = 4.302653, so 0.1799987 ± 0.2075530.
    (found,) = pool_intervals(votes(1.1, 1.2, 1.3))

    assert found.kind == "t"
    assert found.interval.low == pytest.approx(math.exp(-0.0275543), abs=1e-5)
    assert found.interval.high == pytest.approx(math.exp(0.3875517), abs=1e-5)


@pytest.mark.parametrize(("count", "kind"), [(2, "t"), (7, "t"), (8, "bca"), (9, "bca")])
def test_eight_votes_are_enough_for_a_bootstrap(count: int, kind: str) -> None:
    (found,) = pool_intervals(votes(*(1 + number / 10 for number in range(count))))

    assert found.kind == kind


def test_a_bootstrap_stays_within_the_votes_and_around_their_median() -> None:
    speedups = [0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]

    (found,) = pool_intervals(votes(*speedups))

    assert 0.9 <= found.interval.low < 1.25 < found.interval.high <= 1.6


def test_the_same_votes_give_the_same_bootstrap() -> None:
    speedups = [0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]

    first, second = (list(pool_intervals(votes(*speedups))) for _ in range(2))

    assert first == second


def test_equal_votes_leave_nothing_uncertain() -> None:
    (found,) = pool_intervals(votes(*[1.5] * 8))

    assert (found.interval.low, found.interval.high) == pytest.approx((1.5, 1.5))


@pytest.mark.parametrize("odd", [1.01, 3.0])
def test_a_bootstrap_of_all_but_equal_votes_is_finite(odd: float) -> None:
    (found,) = pool_intervals(votes(*[1.0] * 8, odd))

    assert found.kind == "percentile"
    assert 0.99 <= found.interval.low <= found.interval.high <= odd


def test_pools_do_not_touch_each_other() -> None:
    own = Interval(low=0.5, high=0.6)
    listed = [Vote(pool="a", speedup=2.0, within=None), *votes(0.55, within=own)]

    assert [found.pool for found in pool_intervals(listed)] == ["p"]
