"""The acceptance of a draft is the median over people, by setting."""

import pytest

from tests.pipeline.tables import campaign, database, one


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
