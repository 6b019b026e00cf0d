"""Are the advisor's intervals as wide as its own past errors say that they must be?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pytest

from pipeline.data.aggregate import view_queries
from tests.pipeline.tables import rows

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One voter's left-out prediction, wrong by so many times its half-width of 0.1."""

    voter: int
    wrong_by: float
    method: str = "draft-model"


def widenings(past: Iterable[Past]) -> dict[tuple[int | None, str], float]:
    """The widening by fold left out (`None`: no fold) and method; a voter's fold is its number."""
    connection = duckdb.connect()
    connection.execute(
        "create table advice_score (fold bigint, method varchar, voter varchar,"
        " speedup double, advised_log double, spread_half_width double)"
    )
    for each in past:
        connection.execute(
            "insert into advice_score values (? % 10, ?, ?, exp(0.1 * ?), 0.0, 0.1)",
            [each.voter, each.method, str(each.voter), each.wrong_by],
        )
    connection.execute(view_queries()["advice_widening"])
    return {
        (fold, method): widening
        for fold, method, widening in rows(
            connection, "select left_out, method, widening from advice_widening"
        )
    }


def test_an_interval_grows_to_what_95_of_100_predictions_needed() -> None:
    # Errors of 0.05, 0.10, … 1.05 half-widths: the 95 % quantile of these 21 is the 20th, 1.0;
    # doubled, it is 2.0.
    found = widenings(Past(voter=number, wrong_by=number * 0.1) for number in range(1, 22))

    assert found[None, "draft-model"] == pytest.approx(2.0)


def test_an_interval_that_holds_often_enough_stays_as_wide_as_its_spreads_say() -> None:
    found = widenings(Past(voter=number, wrong_by=0.3) for number in range(12))

    assert found[None, "draft-model"] == 1.0


def test_fewer_than_ten_voters_have_nothing_to_teach() -> None:
    found = widenings(Past(voter=number, wrong_by=5.0) for number in range(9))

    assert found[None, "draft-model"] == 1.0


def test_a_voter_does_not_widen_the_interval_that_it_is_judged_by() -> None:
    # Voter 0 alone is wrong, and it alone is in fold 0.
    many = [Past(voter=number, wrong_by=0.5) for number in range(1, 10)]
    more = [Past(voter=number, wrong_by=0.5) for number in (11, 12)]
    found = widenings([Past(voter=0, wrong_by=9.0), *many, *more])

    assert found[0, "draft-model"] == 1.0
    assert found[1, "draft-model"] > 1.0


def test_a_method_of_few_voters_takes_the_wider_of_its_own_and_of_all() -> None:
    usual = [Past(voter=number, wrong_by=2.0) for number in range(40)]
    rare = [Past(voter=number, wrong_by=0.1, method="mtp") for number in range(2)]
    found = widenings([*usual, *rare])

    assert found[None, "draft-model"] == pytest.approx(2.0)
    assert found[None, "mtp"] == pytest.approx(2.0)
