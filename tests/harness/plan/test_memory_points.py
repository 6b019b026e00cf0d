"""Does the planner come near the memory that people logged, knowing only what they knew before?"""

from __future__ import annotations

import statistics
from pathlib import Path

import orjson
import pytest

from estimates.plan.model import Memory, Placement
from estimates.plan.placement import Case, Projection, fit, project
from harness.plan.points import point_of

DATA = Path(__file__).parents[2] / "data" / "memory_points.json"
POINTS = {entry["id"]: entry for entry in orjson.loads(DATA.read_bytes())["points"]}


def planned(entry: dict[str, object]) -> Projection:
    point = point_of(entry)
    case = Case(
        target=point.facts,
        setting=point.setting,
        devices=point.devices,
        host=Memory(name="host", free_mib=1e9),
        uses_head=point.uses_head,
    )
    return fit(case) if point.layers is None else project(case, Placement(layers=point.layers))


@pytest.mark.parametrize("name", POINTS)
def test_caches_and_states_are_within_two_percent(name: str) -> None:
    entry = POINTS[name]
    found = planned(entry)

    for ours, theirs in (("kv", ("kv", "kv_swa")), ("recurrent", ("rs",))):
        logged = sum(
            entry[place].get(kind, 0.0) for place in ("device_mib", "host_mib") for kind in theirs
        )
        if logged:
            mine = sum(getattr(each, ours) for each in (*found.devices, found.host))
            assert mine == pytest.approx(logged, rel=0.02)


def test_half_of_the_devices_totals_are_within_150_mib_and_all_within_a_gibibyte() -> None:
    errors = []
    for entry in POINTS.values():
        if not point_of(entry).facts.weights_known or "model" not in entry["device_mib"]:
            continue
        found = planned(entry)
        kinds = [{"rs": "recurrent", "kv_swa": "kv"}.get(k, k) for k in entry["device_mib"]]
        mine = sum(getattr(found.devices[0], kind) for kind in set(kinds))
        errors.append(abs(mine - sum(entry["device_mib"].values())))

    assert len(errors) >= 12
    assert statistics.median(errors) <= 150
    assert max(errors) < 1024


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
    assert abs(planned(POINTS[name]).placement.layers - layers) <= 1


def test_the_answers_of_a_point_are_not_read() -> None:
    entry = POINTS["hr-9b-1070ti-np4"]
    without = {key: value for key, value in entry.items() if key not in ("device_mib", "host_mib")}

    assert planned(without) == planned(entry)
