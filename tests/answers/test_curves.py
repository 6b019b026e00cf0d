"""A curve of step times and the yield of rounds give the gain of each depth, with an interval."""

import math

import pytest

from answers.curves import (
    TRANSFER_ERROR,
    AcceptedRounds,
    Curve,
    Ranged,
    speedup,
    tokens_of,
)
from schemas.submission import VerificationProbe

FREE = Ranged(estimate=0, low=0, high=0)


def curve(*step_ms: float, widths: tuple[int, ...] = ()) -> Curve:
    probe = VerificationProbe(
        context_tokens=0,
        repeats=5,
        widths=widths or tuple(range(1, len(step_ms) + 1)),
        step_ms_median=step_ms,
    )
    return Curve(probe=probe, source="a test")


def exactly(tokens: float) -> Ranged:
    return Ranged(estimate=tokens, low=tokens, high=tokens)


def test_step_costs_are_the_timed_ones_and_interpolated_linearly_between_widths() -> None:
    known = curve(10, 14, 22, widths=(1, 3, 5))

    assert [known.cost(width) for width in (1, 2, 3, 4, 5)] == pytest.approx(
        [1, 1.2, 1.4, 1.8, 2.2]
    )
    assert known.cost(6) is None
    assert known.deepest == 4


def test_a_speedup_is_the_tokens_of_a_round_over_its_steps_and_its_drafting() -> None:
    found = speedup(exactly(2.4), 1.5, 2, exactly(0.1))

    assert found.estimate == pytest.approx(2.4 / (1.5 + 2 * 0.1))


def test_exact_inputs_still_carry_the_error_of_transferring_a_curve() -> None:
    found = speedup(exactly(1.5), 1.5, 1, FREE)

    assert found.estimate == pytest.approx(1)
    assert found.high == pytest.approx(math.exp(TRANSFER_ERROR))
    assert found.low == pytest.approx(math.exp(-TRANSFER_ERROR))


def test_errors_of_the_yield_and_of_the_drafting_widen_the_interval_on_their_side() -> None:
    tokens = Ranged(estimate=1.5, low=1.5, high=1.8)
    drafting = Ranged(estimate=0.5, low=0.5, high=1.0)

    found = speedup(tokens, 1, 1, drafting)

    assert found.estimate == pytest.approx(1)
    assert found.high == pytest.approx(math.exp(math.hypot(math.log(1.2), TRANSFER_ERROR)))
    assert found.low == pytest.approx(math.exp(-math.hypot(math.log(2 / 1.5), TRANSFER_ERROR)))


def test_tokens_of_a_round_are_one_and_the_accepted_ones_up_to_the_depth() -> None:
    prompts = [AcceptedRounds(rounds=100, reached=each) for each in ((60, 30), (80, 50))]

    assert tokens_of(prompts).estimate == pytest.approx(1 + 140 / 200 + 80 / 200)


def test_prompts_that_differ_make_the_interval_of_a_yield_wider_than_their_rounds_do() -> None:
    alike = [AcceptedRounds(rounds=100, reached=(70,))] * 2
    apart = [AcceptedRounds(rounds=100, reached=(count,)) for count in (60, 80)]

    steady, moving = tokens_of(alike), tokens_of(apart)

    # By rounds sqrt(0.7 * 0.3 / 200), by prompts a standard error of 0.1; times Student's t.
    assert steady.high - steady.estimate == pytest.approx(0.0324 * 1.6525, rel=0.001)
    assert moving.high - moving.estimate == pytest.approx(min(0.3, 0.1 * 6.3138), rel=0.001)
    assert moving.low == pytest.approx(1.7 - 0.1 * 6.3138, rel=0.001)


def test_without_a_round_there_is_no_yield() -> None:
    with pytest.raises(ValueError, match="no round"):
        tokens_of([AcceptedRounds(rounds=0, reached=(0, 0))])
