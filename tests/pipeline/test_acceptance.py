"""Published acceptance over R of a machine: quotient, best depth, error of each factor."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pipeline.site.acceptance import forecasts
from pipeline.site.advice import Curve, Knowledge, Pool, Question, Spread
from tests.pipeline.tables import campaign, database, one, rows

CURVE = Curve(
    label="Big",
    method="mtp",
    method_label="MTP",
    thinking=True,
    task="code",
    address="published/x/#x--big-n1",
    credit="X",
    tokens={"1": 1.8, "4": 3.0, "8": 5.0},
)
KNOWN = Knowledge(
    devices=(),
    models=(),
    tasks=(),
    choices=(),
    pools={
        "round-device|a|cuda|any|n1": Pool(votes=1, mean=math.log(1.5), nearest=()),
        "round-device|a|cuda|any|n4": Pool(votes=3, mean=math.log(2), nearest=()),
    },
    spreads={
        "round-device|any": Spread(variance=0.01, freedom=4),
        "yield-published|any": Spread(variance=0.005, freedom=2),
    },
    quantiles={"4": 2.776, "2": 4.303},
    errors={},
    submissions=(),
    measured={},
    steps={},
    curves=(CURVE,),
)
HERE = Question(backend="cuda", size=0, task="code", device="a", memory=8)


def test_a_curve_is_taken_at_its_best_depth_of_those_with_an_r() -> None:
    # 1.8 / 1.5 = 1.2 at depth 1, 3.0 / 2 = 1.5 at depth 4; nobody measured R at depth 8.
    (found,) = forecasts(KNOWN, HERE)

    assert (found.depth, found.level, found.votes) == (4, "round-device", 3)
    assert found.speedup == pytest.approx(1.5)
    assert found.round_cost == pytest.approx(2.0)


def test_each_factor_has_its_error_and_the_interval_has_both() -> None:
    # R: 2.776 sqrt(0.01 (1 + 1/3)) = 0.32055; tokens: 4.303 sqrt(0.005 * 2) = 0.4303; together
    # 4.303 sqrt(0.013333 + 0.01) = 0.65729 as a logarithm.
    (found,) = forecasts(KNOWN, HERE)

    assert found.cost_error == pytest.approx(math.expm1(0.32055), abs=1e-4)
    assert found.tokens_error == pytest.approx(math.expm1(0.4303), abs=1e-4)
    assert found.low == pytest.approx(1.5 * math.exp(-0.65729), abs=1e-4)
    assert found.high == pytest.approx(1.5 * math.exp(0.65729), abs=1e-4)


def test_without_the_error_of_a_factor_there_is_no_interval() -> None:
    known = replace(KNOWN, spreads={"round-device|any": Spread(variance=0.01, freedom=4)})

    (found,) = forecasts(known, HERE)

    assert found.cost_error is not None
    assert (found.tokens_error, found.low, found.high) == (None, None, None)


def test_the_nearest_place_decides_even_where_a_farther_one_has_a_better_depth() -> None:
    # 5.0 / 2 = 2.5 at depth 8 on other devices, 1.5 at depth 4 on this one.
    other = {"round-backend|cuda|any|n8": Pool(votes=9, mean=math.log(2), nearest=())}

    (here,) = forecasts(replace(KNOWN, pools=KNOWN.pools | other), HERE)
    (elsewhere,) = forecasts(replace(KNOWN, pools=KNOWN.pools | other), replace(HERE, device="b"))

    assert (here.depth, here.level) == (4, "round-device")
    assert (elsewhere.depth, elsewhere.level) == (8, "round-backend")


def test_r_of_the_curves_own_method_comes_before_that_of_any() -> None:
    own = {"round-device|a|cuda|mtp|n4": Pool(votes=1, mean=math.log(2.5), nearest=())}

    (found,) = forecasts(replace(KNOWN, pools=KNOWN.pools | own), HERE)

    # 3.0 / 2.5 = 1.2 at depth 4, as much as at depth 1, which is then the better choice.
    assert found.depth == 1
    assert found.speedup == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("question", "known"),
    [
        (replace(HERE, task="chat"), KNOWN),
        (replace(HERE, backend="cpu"), KNOWN),
        (replace(HERE, device="b"), KNOWN),
        (HERE, replace(KNOWN, curves=())),
    ],
)
def test_another_task_backend_or_device_says_nothing(question: Question, known: Knowledge) -> None:
    assert forecasts(known, question) == ()


def test_r_is_pooled_over_the_pairs_of_a_device_by_depth() -> None:
    # Two pairs at depth 4 with R 2 and 8: the geometric mean is 4, the squares 2 (ln 2)^2.
    connection = database(
        campaign(1.0, task=None, tokens_per_round=2.0, round_cost=2.0),
        campaign(0.25, task=None, tokens_per_round=2.0, round_cost=8.0, quantisation="Q8_0"),
    )

    question = "select votes, exp(mean_log), squares from round_pool where level = 'round-device'"
    assert rows(connection, f"{question} and method = 'any'") == [
        (2, pytest.approx(4.0), pytest.approx(2 * math.log(2) ** 2))
    ]


def test_our_own_acceptance_is_a_curve_by_task() -> None:
    connection = database(
        campaign(1.5, task="code", tokens_per_round=3.0, round_cost=2.0, contributor="ada"),
        campaign(1.5, task="code", tokens_per_round=3.6, round_cost=2.0, contributor="bob", seed=1),
        campaign(1.0, task="chat", tokens_per_round=2.0, round_cost=2.0, seed=2),
    )

    found = "select depth, results, tokens_per_round, thinking from acceptance_curve where task = "
    assert one(connection, f"{found}'code'") == (4, 2, pytest.approx(math.sqrt(10.8)), False)
    assert one(connection, f"{found}'chat'") == (4, 1, pytest.approx(2.0), False)
