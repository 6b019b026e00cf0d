"""A speedup splits into the tokens that a round yields and what the round costs."""

from dataclasses import replace

import pytest

from estimates.decomposition import (
    acceptance_rate,
    drafted_nothing,
    fire_rate,
    position_acceptance,
    tokens_per_round,
)
from estimates.pairing import pair
from estimates.summary import summarize
from schemas.method import Method
from tests.estimates.campaigns import BASELINE, SPEC, campaign, trial

# 10 tokens in 4 rounds, once 10 in 6: (10 + 10) / (4 + 6) = 2 tokens a round.
TWO_TRIALS = (
    trial(rounds=4, drafted=8, accepted=6, drafted_histogram=(0, 0, 4)),
    trial(rounds=6, drafted=8, accepted=4, drafted_histogram=(2, 0, 4)),
)


def test_tokens_per_round_pools_the_trials_and_is_unknown_if_one_lacks_rounds() -> None:
    assert tokens_per_round(TWO_TRIALS) == pytest.approx(2.0)
    assert tokens_per_round([trial(rounds=10)]) == pytest.approx(1.0)  # a plain arm
    assert tokens_per_round([*TWO_TRIALS, trial()]) is None


def test_round_cost_is_the_round_in_baseline_tokens() -> None:
    # Baseline 10 ms per token; 4 rounds in 80 ms are 20 ms each: R = 2, and 2.5 / 2 = 1.25.
    trials = [trial("baseline", decode_ms=100.0), trial("spec", decode_ms=80.0, rounds=4)]

    (pairs,) = pair(campaign(trials), SPEC)

    assert pairs.round_cost == pytest.approx(2.0)
    assert pairs.speedup == pytest.approx(2.5 / 2.0)


def test_round_cost_is_the_ratio_of_the_mean_times() -> None:
    # 5 rounds for 10 tokens in both blocks; 20 ms a round beside 10 ms a token, then 90 beside 20:
    # R = 55 / 15. The mean of 2 and 4.5 would be 3.25, which no two printed times give.
    trials = [
        trial("baseline", block=0, decode_ms=100.0),
        trial("spec", block=0, decode_ms=100.0, rounds=5),
        trial("baseline", block=1, decode_ms=200.0),
        trial("spec", block=1, decode_ms=450.0, rounds=5),
    ]

    (pairs,) = pair(campaign(trials), SPEC)

    assert pairs.round_cost == pytest.approx(55 / 15)


def test_round_cost_is_unknown_without_rounds() -> None:
    (pairs,) = pair(campaign([trial("baseline"), trial("spec")]), SPEC)

    assert pairs.round_cost is None


def test_rates_are_shares_of_what_was_drafted_and_unknown_without_counts() -> None:
    assert acceptance_rate(TWO_TRIALS) == pytest.approx(10 / 16)
    assert acceptance_rate([trial(drafted=0, accepted=0)]) is None
    assert acceptance_rate([trial()]) is None
    # Rounds that drafted.
    assert fire_rate(TWO_TRIALS) == pytest.approx(8 / 10)
    assert fire_rate([trial(rounds=10, drafted=0)]) == 0.0
    assert fire_rate([trial(rounds=10, drafted=5)]) is None


def test_drafted_nothing_needs_a_known_zero() -> None:
    assert drafted_nothing([trial(drafted=0)])
    assert not drafted_nothing([trial(drafted=0), trial(drafted=1)])
    assert not drafted_nothing([trial()])
    assert not drafted_nothing([])


@pytest.mark.parametrize(
    ("drafted", "accepted", "chances"),
    [
        # Ten drafts of two: 8 accepted the first, 5 of these the second.
        ((0, 0, 10), (2, 3, 5), (8 / 10, 5 / 8)),
        # Four rounds that did not fire are not at risk.
        ((4, 0, 6), (5, 2, 3), (5 / 6, 3 / 5)),
        # Four drafts of one: of the 8 rounds with a first token, 6/10 had a second to accept.
        ((0, 4, 6), (2, 4, 4), (8 / 10, 4 / 4.8)),
        # Nothing accepted: the second position was never reached.
        ((0, 0, 10), (10,), (0.0,)),
        ((10,), (10,), ()),
    ],
)
def test_position_acceptance_is_conditional_on_the_position_before(
    drafted: tuple[int, ...], accepted: tuple[int, ...], chances: tuple[float, ...]
) -> None:
    found = position_acceptance([trial(drafted_histogram=drafted, accepted_histogram=accepted)])

    assert found == pytest.approx(chances)


def test_position_acceptance_adds_up_trials_of_different_depth() -> None:
    trials = [
        trial(drafted_histogram=(0, 0, 5), accepted_histogram=(1, 1, 3)),
        trial(drafted_histogram=(0, 0, 5), accepted_histogram=(1, 4)),
    ]

    assert position_acceptance(trials) == pytest.approx((8 / 10, 3 / 8))
    assert position_acceptance([trial()]) is None


def test_forced_acceptance_gives_the_cost_of_a_round_and_no_speedup() -> None:
    # Baseline 10 ms per token; 4 rounds of 2.5 tokens in 80 ms are 20 ms each: R = 2.
    arm = replace(SPEC, role="control", method=Method(type="forced", n_max=4, length=2.5))
    trials = [
        each
        for number in range(3)
        for each in (
            trial("baseline", f"code-{number}"),
            trial("spec", f"code-{number}", decode_ms=80.0, rounds=4),
        )
    ]
    prompts = tuple(f"code-{number}" for number in range(3))

    found = summarize(campaign(trials, prompts=prompts, arms=(BASELINE, arm)))

    (code, _) = found.estimates
    assert code.round_cost == pytest.approx(2.0)
    assert code.tokens_per_round == pytest.approx(2.5)
    assert (code.speedup, code.interval, code.whole_request) == (None, None, None)
    assert (code.verdict, code.doubt) == ("uncertain", "instrument")
    assert found.prompts == ()
