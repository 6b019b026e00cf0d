"""A round costs a wider step and the drafting; its tokens over its cost are the speedup."""

import math

import pytest
from msgspec.structs import replace

from planner.model import Memory, ModelFacts, Setting
from planner.placement import LoadPlan
from planner.rounds import (
    Curve,
    chance_of_gain,
    drafting_share,
    highest,
    speedup,
    tokens_at,
    usual_cost,
    widened,
)
from planner.speed import Ranged
from planner.ways import OwnRounds, Way
from schemas.submission import VerificationProbe
from tests.known_models import known

HEAD = Way(source="own-head", method="mtp")
CURVE = Curve(
    probe=VerificationProbe(
        context_tokens=0, repeats=3, widths=(1, 2, 4), step_ms_median=(10.0, 11.0, 14.0)
    ),
    source="a probe",
)


def exactly(tokens: float) -> Ranged:
    return Ranged(estimate=tokens, low=tokens, high=tokens)


def load(target: ModelFacts, draft: ModelFacts | None = None) -> LoadPlan:
    return LoadPlan(
        target=target,
        setting=Setting(),
        devices=(Memory(name="card", free_mib=90_000),),
        host=Memory(name="host", free_mib=90_000),
        draft=draft,
    )


def half_as_large() -> tuple[LoadPlan, float]:
    """A target with a draft of half its layers, and the share of its bytes that the draft reads."""
    target = known("qwen3-8b")
    layer = target.layers[0].weight_bytes
    share = (18 * layer + target.output_bytes) / (36 * layer + target.output_bytes)
    return load(target, replace(target, layers=target.layers[:18])), share


def test_drafting_costs_the_share_of_the_bytes_that_it_reads() -> None:
    case, share = half_as_large()

    assert drafting_share(case, "model") == pytest.approx(share, rel=0.01)
    assert drafting_share(case, "text") == 0


def test_the_usual_cost_of_a_round_is_that_of_its_kind_of_machine() -> None:
    dense, mixture = (usual_cost(3, "nvidia", mixture=mixture) for mixture in (False, True))

    assert (dense, mixture) == (1 + 3 * 0.23, 1 + 3 * 0.53)
    assert usual_cost(3, "apple m3", mixture=False) == 1 + 3 * 0.42
    # A draft model that reads a tenth of the target's bytes for each token.
    assert usual_cost(3, "apple m3", mixture=False, drafting=0.1) == pytest.approx(1 + 3 * 0.52)


def test_an_acceptance_at_another_depth_falls_with_each_position() -> None:
    half = OwnRounds.stated({1: 1.5})

    assert tokens_at(half, 1).estimate == 1.5
    # 1/2, and for the second token 1/2 to the power of 1.35.
    assert tokens_at(half, 2).estimate == pytest.approx(1.5 + 0.5**2.35)


def test_with_a_curve_the_speedup_is_the_tokens_over_the_cost() -> None:
    case = load(known("qwen3-8b"))

    # A step over four tokens takes 1.4 plain steps.
    cost = 1.4 + 3 * drafting_share(case, "own-head")
    assert speedup(case, HEAD, exactly(2.5), 3, CURVE).estimate == pytest.approx(2.5 / cost)


def test_a_target_that_goes_back_to_a_checkpoint_reads_the_accepted_tokens_again() -> None:
    target = known("qwen3.5-9b", with_head=True)
    assert target.recurrent
    case = load(target)
    copies = replace(case, setting=replace(case.setting, rollback_states=3))

    # The three tokens are accepted with 1/2, 1/2 to the power of 1.35, and of 1.7.
    tokens = 1.5 + 0.5**2.35 + 0.5**4.05
    gains = (speedup(each, HEAD, exactly(tokens), 3, CURVE).estimate for each in (case, copies))
    again, once = (tokens / gain for gain in gains)
    assert again - once == pytest.approx(1 - 0.5**4.05)


@pytest.mark.parametrize(
    ("estimate", "low", "high", "chance"),
    [
        (1.2, 0.96, 1.5, 0.910),  # ln 1.2 / (ln 1.25 / 1.645) = 1.34 deviations
        (1.0, 0.8, 1.25, 0.5),
        (0.8, 0.64, 1.0, 0.05),  # 1 is the upper end of the interval
        (1.25, 1.0, 1.6, 0.95),
    ],
)
def test_the_chance_of_a_gain_is_that_of_a_lognormal(
    estimate: float, low: float, high: float, chance: float
) -> None:
    assert chance_of_gain(estimate, low, high) == pytest.approx(chance, abs=0.001)


def test_a_draft_half_as_large_as_its_target_cannot_double_the_speed() -> None:
    case, share = half_as_large()
    assert 0.5 < share < 0.6
    assert highest(case, "model", 1, one_memory=True) == pytest.approx(2 / (1 + share), rel=0.01)
    assert highest(case, "model", 1, one_memory=False) == 2


def test_text_drafts_cost_nothing_at_best() -> None:
    assert highest(load(known("qwen3-8b")), "text", 8, one_memory=True) == 9


def test_step_costs_are_the_timed_ones_and_interpolated_linearly_between_widths() -> None:
    assert [CURVE.cost(width) for width in (1, 2, 3, 4)] == pytest.approx([1, 1.1, 1.25, 1.4])
    assert CURVE.cost(5) is None
    assert CURVE.deepest == 3


def test_an_error_widens_each_side_of_a_range() -> None:
    exact, ranged = widened(2, 2, 2, 0.15), widened(1.5, 1.5, 1.8, 0.15)

    assert (exact.low, exact.high) == pytest.approx((2 * math.exp(-0.15), 2 * math.exp(0.15)))
    assert ranged.low == pytest.approx(1.5 * math.exp(-0.15))
    assert ranged.high == pytest.approx(1.5 * math.exp(math.hypot(math.log(1.2), 0.15)))
