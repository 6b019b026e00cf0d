"""Does the planner come near the memory that people logged, knowing only what they knew before?"""

from __future__ import annotations

import orjson
import pytest

from bench.plan.__main__ import ERRORS, errors_file
from bench.plan.comparison import compared, memory_error
from bench.plan.points import Arch, Point, listed_points
from estimates.plan.model import Setting

POINTS = {point.id: point for point in listed_points()}


@pytest.mark.parametrize("name", POINTS)
def test_caches_and_states_are_within_two_percent(name: str) -> None:
    for kind, (fact, plan) in compared(POINTS[name]).caches.items():
        assert plan == pytest.approx(fact, rel=0.02), kind


def test_half_of_the_devices_totals_are_within_150_mib_and_all_within_a_gibibyte() -> None:
    found = memory_error([compared(point) for point in listed_points()])

    assert found.totals >= 20
    assert found.total_median_mib <= 150
    assert found.total_worst_mib < 1024


def test_the_planner_states_the_errors_that_it_has_now() -> None:
    """After a change: `python -m bench.plan --write`."""
    stated, found = (orjson.loads(data)["memory"] for data in (ERRORS.read_bytes(), errors_file()))

    assert stated == pytest.approx(found)


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


def test_architecture_facts_are_planned_without_a_model_file() -> None:
    arch = Arch(kv_layers=32, k_gqa=1024, v_gqa=1024, n_vocab=32000, n_embd=4096)

    found = compared(
        Point(
            id="own", model="own", source="", setting=Setting(slots=4), gpu_layers=33, arch=arch,
            file_bytes=4.0 * 2**30,
        )
    )  # fmt: skip

    # 32 layers · 2048 values · 4096 tokens · 2 bytes · (llama-server's four slots share them)
    assert found.planned["kv"] == 512
