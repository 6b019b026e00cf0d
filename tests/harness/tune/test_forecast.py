"""Forecasts of depths match real logs, and tunes of known rigs pick well."""

from dataclasses import replace
from typing import Any

import pytest

from bench import tune, tune_rigs
from harness.tune import forecast
from harness.tune.forecast import Candidate
from schemas.method import Method
from schemas.submission import DraftingProbe, Probes, VerificationProbe
from tests.estimates.campaigns import BASELINE, SPEC, campaign, trial
from tests.nightly import few

# Four rounds of two drafted tokens: one accepted none, one accepted one, two accepted both.
DEEP: dict[str, Any] = {"rounds": 4, "drafted": 8, "accepted": 5, "accepted_histogram": (1, 1, 2)}


def test_three_depths_of_one_engine_give_its_cost_of_a_round() -> None:
    # Depth -> tokens per round, tokens per second; 460.7 without speculation.
    logged = {1: (2.00, 620.6), 3: (3.88, 954.8), 7: (6.25, 999.0)}
    costs = {depth: tokens / (tps / 460.7) for depth, (tokens, tps) in logged.items()}

    assert {depth: f"{cost:.3f}" for depth, cost in costs.items()} == {
        1: "1.485",
        3: "1.872",
        7: "2.882",
    }
    # Straight lines between them: depth 2 costs (1.485 + 1.872) / 2, depth 5 (1.872 + 2.882) / 2.
    between = forecast.costs_from_rounds(costs, 7)
    assert between[2] == pytest.approx(1.679, abs=0.001)
    assert between[5] == pytest.approx(2.377, abs=0.001)


def test_a_depth_below_the_deepest_is_forecast_from_its_positions_and_the_probes() -> None:
    # Steps over 1, 2, 3 tokens take 10, 11, 12 ms, a drafted token 1 ms: rounds cost 1, 1.2, 1.4.
    # Three of four rounds accept the first token, two of those three the second:
    # depth 1: 1.75 / 1.2, depth 2: (1 + 3/4 + 2/4) / 1.4 = 2.25 / 1.4. The baseline's 10 ms per
    # token and 14 ms per round agree with the probes, so that nothing is missed.
    method = Method(type="draft-model", draft="tiny-q8-0", n_max=2)
    probes = Probes(
        verification=VerificationProbe(
            context_tokens=9, repeats=3, widths=(1, 2, 3), step_ms_median=(10.0, 11.0, 12.0)
        ),
        drafting=(DraftingProbe(draft="tiny-q8-0", repeats=3, token_ms_median=1.0),),
    )
    arm = replace(SPEC, method=method)
    trials = [
        trial("baseline", output_tokens=10, decode_ms=90.0, rounds=9),
        trial(
            output_tokens=10,
            decode_ms=56.0,
            drafted_histogram=(0, 0, 4),
            **DEEP,
        ),
    ]

    found = forecast.of_family(campaign(trials, arms=(BASELINE, arm), probes=probes), [arm])

    assert found == pytest.approx((1.75 / 1.2, 2.25 / 1.4))


def test_a_server_without_probes_is_forecast_from_two_depths() -> None:
    # Depth 1 costs 1.2 baseline tokens a round and depth 2 costs 1.5; acceptance is the deeper's.
    shallow, deep = (
        replace(
            SPEC, id=f"n{depth}", method=Method(type="draft-model", draft="tiny-q8-0", n_max=depth)
        )
        for depth in (1, 2)
    )
    trials = [
        trial("baseline", output_tokens=10, decode_ms=90.0),
        trial("n1", output_tokens=10, decode_ms=72.0, rounds=6, accepted=3, drafted=6),
        trial("n2", output_tokens=10, decode_ms=60.0, **DEEP),
    ]

    found = forecast.of_family(campaign(trials, arms=(BASELINE, shallow, deep)), [deep, shallow])

    assert found == pytest.approx((1.75 / 1.2, 2.25 / 1.5))


def test_a_family_without_a_measurement_is_not_forecast() -> None:
    assert forecast.of_family(campaign([trial("baseline")]), [SPEC]) is None


def candidates(**predicted: float | None) -> list[Candidate]:
    """Family and depth are in the name: `a3` is depth 3 of family a."""
    return [
        Candidate(id=name, family=name[0], depth=int(name[1:]), predicted=value)
        for name, value in predicted.items()
    ]


def listed(most: int, **predicted: float | None) -> list[str]:
    return [each.id for each in forecast.shortlist(candidates(**predicted), most)]


def test_the_best_of_every_plausible_family_is_tried_before_neighbours_of_the_best() -> None:
    assert listed(2, a3=1.50, a4=1.49, b2=1.40, c1=1.0) == ["a3", "b2"]


def test_the_shortlist_prefers_spread_out_depths() -> None:
    assert listed(3, a4=1.50, a5=1.49, a6=1.48, a7=1.44, a2=1.43) == ["a4", "a6", "a2"]


def test_a_method_without_a_forecast_is_tried() -> None:
    assert "b2" in listed(3, a3=1.50, a4=1.49, b2=None)


@pytest.mark.parametrize("kind", few(tune_rigs.KINDS, 5))
def test_a_tune_of_a_known_rig_picks_well_with_few_trials(kind: str) -> None:
    row = tune.simulate(kind, 6, seed=7)

    assert row.near_best >= 0.8
    assert row.most_trials <= 0.4
    assert kind != "nothing helps" or row.said_off == 1
