"""Does the planner come near the memory that people logged, knowing only what they knew before?"""

from __future__ import annotations

from importlib import resources

import orjson
import pytest

from estimates.plan.errors import compared, memory_error, memory_points

FILE = resources.files("estimates.plan").joinpath("memory_points.json")
POINTS = {entry["id"]: entry for entry in orjson.loads(FILE.read_bytes())["points"]}


@pytest.mark.parametrize("name", POINTS)
def test_caches_and_states_are_within_two_percent(name: str) -> None:
    for kind, (fact, plan) in compared(POINTS[name]).caches.items():
        assert plan == pytest.approx(fact, rel=0.02), kind


def test_half_of_the_devices_totals_are_within_150_mib_and_all_within_a_gibibyte() -> None:
    found = memory_error(memory_points())

    assert found.totals >= 20
    assert found.total_median_mib <= 150
    assert found.total_worst_mib < 1024


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("hr-27b-q5-mtp-np1", 66),
        ("hr-9b-3080ti-np4-split", 33),
        ("hr-9b-1070ti-np4", 31),
        ("hr-9b-3060lap-np4", 18),
    ],
)
def test_the_engines_choice_of_layers_is_met_within_one(name: str, layers: int) -> None:
    found = compared(POINTS[name]).layers

    assert found is not None
    assert abs(found[1] - layers) <= 1


def test_the_answers_of_a_point_are_not_read() -> None:
    entry = POINTS["hr-9b-1070ti-np4"]
    answers = {"device_mib": {"kv": 1.0}, "host_mib": {}, "decode_tok_s": 1.0}

    found = compared({**entry, **answers})

    assert found.kinds["kv"][1] == compared(entry).kinds["kv"][1]
    assert found.layers == compared(entry).layers
