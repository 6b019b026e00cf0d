"""The advisor's intervals are as wide as its own past errors require."""

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb
import pytest

from bench import advisor
from pipeline.data.aggregate import prepare, view_queries
from tests.pipeline.tables import rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One voter's left-out prediction, wrong by so many times its half-width."""

    voter: int
    wrong_by: float
    method: str = "draft-model"


def widenings(past: Iterable[Past]) -> dict[tuple[int | None, str], float]:
    """The widening by fold left out (`None`: no fold) and method; a voter's fold is its number."""
    connection = duckdb.connect()
    prepare(connection)
    connection.execute(
        "create table advice_score (fold bigint, method varchar, voter varchar, score double)"
    )
    for each in past:
        connection.execute(
            "insert into advice_score values (? % 10, ?, ?, ?)",
            [each.voter, each.method, str(each.voter), each.wrong_by],
        )
    connection.execute(view_queries()["advice_widening"])
    return {
        (fold, method): widening
        for fold, method, widening in rows(
            connection, "select left_out, method, widening from advice_widening"
        )
    }


def about(widening: float) -> object:
    """The next step of 1 % above it."""
    return pytest.approx(widening * 1.005, rel=0.005)


def test_an_interval_grows_to_what_95_of_100_new_voters_need() -> None:
    # Errors of 0.1, 0.2, … 4.0 half-widths: 0.95 · (40 + 1) = 38.95, so the 39th of 40.
    found = widenings(Past(voter=number, wrong_by=number * 0.1) for number in range(1, 41))

    assert found[None, "draft-model"] == about(3.9)


def test_an_interval_that_held_with_room_to_spare_becomes_narrower_by_half_at_most() -> None:
    some = widenings(Past(voter=number, wrong_by=0.7) for number in range(12))
    most = widenings(Past(voter=number, wrong_by=0.1) for number in range(12))

    assert some[None, "draft-model"] == about(0.7)
    assert most[None, "draft-model"] == 0.5


def test_a_voter_counts_once_however_many_predictions_it_has() -> None:
    # One of twenty needs 3.0, in each of a hundred predictions: the others outvote it by one hair
    # too few, as 0.95 · (20 + 1) is more than their 19.
    many = [Past(voter=0, wrong_by=3.0)] * 100
    nineteen = [Past(voter=number, wrong_by=1.0) for number in range(1, 20)]
    forty = [Past(voter=number, wrong_by=1.0) for number in range(1, 41)]

    assert widenings([*many, *nineteen])[None, "draft-model"] == about(3.0)
    assert widenings([*many, *forty])[None, "draft-model"] == about(1.0)


def test_fewer_than_ten_voters_have_nothing_to_teach() -> None:
    found = widenings(Past(voter=number, wrong_by=5.0) for number in range(9))

    assert found[None, "draft-model"] == 1.0


def test_a_voter_does_not_widen_the_interval_that_it_is_judged_by() -> None:
    # Voter 0 alone is wrong, and it alone is in fold 0.
    many = [Past(voter=number, wrong_by=0.7) for number in range(1, 10)]
    more = [Past(voter=number, wrong_by=0.7) for number in (11, 12)]
    found = widenings([Past(voter=0, wrong_by=9.0), *many, *more])

    assert found[0, "draft-model"] == about(0.7)
    assert found[1, "draft-model"] == about(9.0)


def test_a_method_of_few_voters_takes_the_wider_of_its_own_and_of_all() -> None:
    usual = [Past(voter=number, wrong_by=2.0) for number in range(40)]
    rare = [Past(voter=number, wrong_by=0.7, method="mtp") for number in range(2)]
    found = widenings([*usual, *rare])

    assert found[None, "draft-model"] == about(2.0)
    assert found[None, "mtp"] == about(2.0)


def test_contributors_whom_the_corpus_does_not_hold_find_what_it_promised() -> None:
    row = advisor.judge(24, seed=0)

    assert row.held_fresh >= advisor.PROMISE
    assert row.held_unseen >= advisor.UNSEEN_PROMISE
    assert row.error_fresh / row.error_stated < advisor.FACTOR
