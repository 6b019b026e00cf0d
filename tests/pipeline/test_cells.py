"""The method for a cell's interval depends only on the number of votes."""

import math
from typing import Any

import pytest

from bench.votes import PoolInterval, Vote, pool_intervals


def votes(*speedups: float, **more: Any) -> list[Vote]:  # noqa: ANN401 - fields of a vote
    return [
        Vote(pool="p", voter=str(number), ratio=speedup, **more)
        for number, speedup in enumerate(speedups)
    ]


def test_more_machines_of_one_contributor_hardly_narrow_its_interval() -> None:
    one, four = (
        pool_intervals(votes(1.2, half_width=0.05, machines=number, files=number))[0]
        for number in (1, 4)
    )

    assert 0.9 < math.log(four.high / 1.2) / math.log(one.high / 1.2) < 1


def test_the_spread_between_contributors_is_learned_from_other_cells() -> None:
    # Forty contributors in twenty cells agree to within 0.1 %: then one alone is nearly as good.
    others = [
        Vote(pool=f"{cell}", voter=f"{cell}-{number}", ratio=1 + number / 1000)
        for cell in range(10, 30)
        for number in range(2)
    ]

    *_, found = pool_intervals([*others, *votes(1.2, half_width=0.05)])

    assert math.log(found.high / 1.2) < 0.08


def test_one_more_vote_elsewhere_leaves_the_other_cells_as_they_are() -> None:
    # 48 differences of ln 1.1 and one of ln 1.1 or ln 1.11: a spread of 6.74 or 6.75 %, so 6.8 %.
    # With 20 degrees of freedom next to the prior's 4: (4 * 0.0023125 + 20 * 0.068^2) / 24.
    def of_the_last_cell(odd: float) -> PoolInterval:
        pairs = [*[(1.0, 1.1)] * 48, (1.0, odd)]
        others = [
            Vote(pool=f"a{cell}", voter=f"{cell}-{number}", ratio=speedup)
            for cell, pair in enumerate(pairs)
            for number, speedup in enumerate(pair)
        ]
        return pool_intervals([*others, *votes(1.2, half_width=0.05)])[-1]

    assert of_the_last_cell(1.1) == of_the_last_cell(1.11)
    assert of_the_last_cell(1.1).spread == pytest.approx(math.sqrt(0.0042387), abs=1e-6)


def test_a_contributor_with_the_same_offset_everywhere_counts_once() -> None:
    cells = [
        Vote(pool=f"{cell}", voter=str(number), ratio=1 + number / 1000)
        for cell in range(10, 30)
        for number in range(2)
    ]
    alone, among = pool_intervals(cells[:2])[0], pool_intervals(cells)[0]

    assert among[3:5] == pytest.approx(alone[3:5])


def test_a_shared_error_is_not_narrowed_by_more_contributors() -> None:
    (found,) = pool_intervals(votes(1.2, 1.2, 1.2, half_width=0.10, shared=True))

    assert math.log(found.high / 1.2) > 0.10


def test_a_single_vote_without_an_interval_gets_none() -> None:
    assert pool_intervals(votes(1.2)) == []


def test_three_votes_get_the_t_interval_on_their_logarithms() -> None:
    # ln: 0.0953102, 0.1823216, 0.2623643; mean 0.1799987, variance 0.0069808. With the prior's
    # (0.06^2 + 0.025^2 + 0.02^2) / 2 of 4 degrees of freedom: t(0.975, 6) = 2.446912 times the root
    # of (4 * 0.0023125 + 2 * 0.0069808) / 6 / 3, which is 0.0878691.
    (found,) = pool_intervals(votes(1.1, 1.2, 1.3))

    assert found.kind == "t"
    assert found.low == pytest.approx(math.exp(0.0921296), abs=1e-5)
    assert found.high == pytest.approx(math.exp(0.2678678), abs=1e-5)


@pytest.mark.parametrize(("count", "kind"), [(2, "t"), (7, "t"), (8, "order"), (9, "order")])
def test_eight_votes_are_enough_for_order_statistics(count: int, kind: str) -> None:
    (found,) = pool_intervals(votes(*(1 + number / 10 for number in range(count))))

    assert found.kind == kind


def test_the_interval_of_a_median_lies_between_its_order_statistics() -> None:
    # Eight votes: from the first to the last covers 1 - 2/256 = 0.9921875, from the second to the
    # last but one 1 - 18/256 = 0.9296875. I = (0.9921875 - 0.95) / 0.0625 = 0.675, and the share is
    # (8 - 1) I / (1 + 6 I) = 4.725 / 5.05 = 0.9356436 of the way, on the logarithms.
    speedups = [0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]

    (found,) = pool_intervals(votes(*speedups))

    assert found.low == pytest.approx(0.9**0.0643564 * 1.0**0.9356436, rel=1e-6)
    assert found.high == pytest.approx(1.6**0.0643564 * 1.5**0.9356436, rel=1e-6)


def test_fifty_thousand_votes_are_one_interval_and_no_matrix() -> None:
    # The ranks are n/2 - 1.96 sqrt(n)/2 = 24,781 from either end; votes are 1 + rank / 50,000.
    speedups = [1 + number / 50_000 for number in range(1, 50_001)]

    (found,) = pool_intervals(votes(*speedups))

    assert found.low == pytest.approx(1.49562, abs=2e-5)
    assert found.high == pytest.approx(1.50440, abs=2e-5)


def test_equal_votes_leave_nothing_uncertain() -> None:
    (found,) = pool_intervals(votes(*[1.5] * 8))

    assert (found.low, found.high) == pytest.approx((1.5, 1.5))


def test_a_single_odd_vote_does_not_move_the_interval() -> None:
    (found,) = pool_intervals(votes(*[1.0] * 9, 3.0))

    assert (found.low, found.high) == pytest.approx((1.0, 1.0))
