"""Acceptance curves: tokens per round of one model on one task, by depth."""

import pytest

from tests.pipeline.tables import campaign, database, one


def test_a_person_with_many_results_has_one_vote() -> None:
    connection = database(
        *(
            campaign(
                1.5, task=task, tokens_per_round=tokens, round_cost=tokens / 1.5,
                contributor=name, seed=seed, day=f"2026-11-{day}",
            )
            for day, task in ((21, "code"), (22, None))
            for seed, (name, tokens) in enumerate(
                [("ada", 2.0), ("ada", 2.2), ("ada", 2.4), ("bob", 3.0)]
            )
        )
    )  # fmt: skip

    # Of Ada's median, 2.2, and 3.0; the median of all four would be 2.3.
    of_task = "select results, tokens_per_round from acceptance_curve where task = 'code'"
    assert one(connection, of_task) == (4, pytest.approx(2.6))
    of_pair = "select results, tokens_per_round, round_cost from round_cost"
    assert one(connection, of_pair) == (4, pytest.approx(2.6), pytest.approx(2.6 / 1.5))


def test_our_own_acceptance_is_a_curve_by_task() -> None:
    connection = database(
        campaign(1.5, task="code", tokens_per_round=3.0, round_cost=2.0, contributor="ada"),
        campaign(1.5, task="code", tokens_per_round=3.6, round_cost=2.0, contributor="bob", seed=1),
        campaign(1.0, task="chat", tokens_per_round=2.0, round_cost=2.0, seed=2),
    )

    # The median of 3.0 and 3.6.
    found = "select depth, results, tokens_per_round, thinking from acceptance_curve where task = "
    assert one(connection, f"{found}'code'") == (4, 2, pytest.approx(3.3), False)
    assert one(connection, f"{found}'chat'") == (4, 1, pytest.approx(2.0), False)


def test_accepted_drafts_are_counted_by_person_for_each_setting() -> None:
    connection = database(
        campaign(1.5, task="code", tokens_per_round=3.0, round_cost=2.0, contributor="ada"),
        campaign(1.5, task="code", tokens_per_round=2.2, round_cost=2.0, contributor="ada", seed=1),
        campaign(1.5, task="code", tokens_per_round=3.8, round_cost=2.0, contributor="bob", seed=2),
    )

    people, figures, rate, least, most = one(
        connection,
        "select people, figures, acceptance_rate, acceptance_least, acceptance_most "
        "from acceptance where task = 'code'",
    )

    # At depth 4, Ada's median of 0.5 and 0.3 is 0.4, and Bob has 0.7.
    assert (people, figures) == (2, 3)
    assert (rate, least, most) == pytest.approx((0.55, 0.4, 0.7))
