"""The cost of a round turns an acceptance into a speedup, and the estimate into an acceptance."""

import math

import pytest
from msgspec.structs import replace

from planner.acceptance import Fitted, Usual, fitted
from planner.answer import answer
from planner.deciding import Deciding, deciding
from planner.estimate import ALL, Median, Typical
from planner.evidence import Rig
from planner.kinds import Case
from planner.listed import question_by_name
from planner.machines import MachineWords, described_computer
from planner.speed import SpeedEstimate
from planner.ways import OwnRounds, Way

CASE = Case(rig=Rig(card="rtx 3090"), mixture=False, method="mtp")
COSTS = Typical(digest="", every=1.0, kinds={}, cards={}, reach={ALL: 2.0, "cpu": 3.0})
# With a certain first token, a round at depth 3 yields all four.
KNOWN = Fitted(
    weight=0.75,
    spread=0.3,
    apart=0.4,
    costs=COSTS,
    usual={
        ALL: Usual(0.5, 1.0, 1.0, 9),
        "dense, mtp, code": Usual(0.5, 0.9, 1.0, 3),
        "dense, mtp, chat": Usual(0.2, 0.3, 0.4, 2),
    },
)


def test_the_cost_is_the_usual_one_and_the_one_that_the_estimate_implies() -> None:
    # Usually 1.6 steps; 4 tokens at 2.0 imply 2 steps.
    cost = KNOWN.implied(CASE, 3, 1.6, 2.0)

    assert cost == pytest.approx(1.6**0.75 * 2.0**0.25, abs=0.005)


def test_no_round_costs_less_than_a_step_or_needs_more_than_every_token() -> None:
    assert KNOWN.implied(CASE, 3, 0.2, 4.0) == 1.0
    # An estimate of 3.9 allows a cost of 4 / 3.9 steps, even if such rounds usually cost 5.
    assert KNOWN.implied(CASE, 3, 5.0, 3.9) == pytest.approx(4 / 3.9, abs=0.005)


def test_the_cost_of_a_kind_is_over_the_usual_one_of_its_machine() -> None:
    dear = Typical(digest="", every=1.0, kinds={"dense, mtp": Median(2.0, 2.0)}, cards={}, reach={})
    known = Fitted(weight=1.0, spread=0, apart=0, costs=dear, usual=KNOWN.usual)

    # Two people move the median half way, in logarithms.
    assert known.log_cost(CASE, 1.6) == pytest.approx(math.log(1.6 * math.sqrt(2)))


def test_an_acceptance_is_usual_on_a_task_only_if_three_people_published_it() -> None:
    code, chat = (KNOWN.usual_of(CASE, task) for task in ("code", "chat"))

    assert (code.people, chat.people) == (3, 9)


def test_an_interval_is_wider_where_the_own_number_contradicts_the_estimate() -> None:
    assert KNOWN.half_width("nvidia", 2.0, 2.0) == pytest.approx(0.6)
    assert KNOWN.half_width("cpu", 2.0, 2.0) == pytest.approx(0.9)
    assert KNOWN.half_width("nvidia", 2 * math.e, 2.0) == pytest.approx(2 * math.hypot(0.3, 0.4))


def test_break_even_and_strip_follow_from_the_cost_of_a_round() -> None:
    known = Deciding(
        depth=3, cost=2.2, expected=0.6, is_own=False, low=0.5, high=0.8, people=9, task=None
    )

    # 1.2 of 3 drafted tokens pay for the round.
    assert known.even == pytest.approx(0.4)
    assert known.strip == pytest.approx({0.4: 1.0, 0.6: 2.8 / 2.2, 0.8: 3.4 / 2.2})


def test_no_acceptance_is_enough_for_a_round_that_costs_more_than_its_tokens() -> None:
    known = Deciding(
        depth=1, cost=2.1, expected=0.6, is_own=False, low=0.5, high=0.8, people=9, task=None
    )

    assert known.even is None


def test_the_shipped_weights_are_those_of_the_folds() -> None:
    known = fitted()

    assert known.accuracy is not None
    assert known.accuracy.off <= 1.20
    assert 0.86 <= known.accuracy.held <= 0.94


def test_a_measured_speedup_states_an_acceptance_only_if_its_tokens_were_counted() -> None:
    words = MachineWords(gpus=("RTX 3090",))
    question = question_by_name("qwen3.8-27b:Q4_K_M", described_computer(words))
    assert question is not None
    gain = SpeedEstimate(estimate=1.6, low=1.5, high=1.7, basis="here")
    way = Way(source="own-head", method="mtp", depths=(3,), measured={3: gain})
    counted = replace(way, accepted=OwnRounds.stated({3: 2.5}))

    timed, both = (answer(replace(question, ways=(x,), named=x)) for x in (way, counted))

    assert deciding(timed) is None
    # 2.5 tokens at 1.6 times the speed cost 1.56 steps; 1.5 of 3 drafted tokens are accepted.
    known = deciding(both)
    assert known is not None
    assert (known.cost, known.expected) == pytest.approx((1.56, 0.5), abs=0.005)
