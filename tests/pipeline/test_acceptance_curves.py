"""Acceptance curves: tokens per round of one model on one task, by depth."""

import pytest

from tests.pipeline.tables import campaign, database, one


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
