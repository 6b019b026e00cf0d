"""The planner comes near the memory that people logged, from facts known before loading."""

import orjson
import pytest
from msgspec.structs import replace

from bench.plan.__main__ import ERRORS, errors_file
from bench.plan.comparison import compared, memory_error, projected, wrongly_fitting
from bench.plan.points import Arch, Point, UnknownShapeError, listed_points
from planner.memory import place
from planner.model import LayerPlacement, Memory, Setting
from planner.placement import LoadPlan, Projection, fit, project
from tests.known_models import known

POINTS = {point.id: point for point in listed_points()}


@pytest.mark.parametrize("name", POINTS)
def test_caches_and_states_are_within_two_percent(name: str) -> None:
    for kind, (fact, plan) in compared(POINTS[name]).caches.items():
        assert plan == pytest.approx(fact, rel=0.02), kind


def test_half_of_the_devices_totals_are_within_150_mib_and_all_within_a_gibibyte() -> None:
    found = memory_error([compared(point) for point in listed_points()])

    assert found.totals >= 5
    assert found.total_median_mib <= 150
    assert found.total_worst_mib < 1024


def test_fits_is_wrong_for_one_in_fifty_logs_at_most_with_their_source_left_out() -> None:
    found = memory_error([compared(point) for point in listed_points()])

    assert found.fits_points >= 28
    assert found.fits_wrong <= 0.02 * found.fits_points
    # The second point of one origin exceeds the bound of the others; 0.4 is within the planner's.
    assert wrongly_fitting([("a", 0.4), ("a", 1.6), ("b", 1.5)]) == 1
    assert wrongly_fitting([("a", 0.4), ("b", 0.9)]) == 0


def test_a_plan_is_certain_to_fit_with_the_runtime_and_the_error_of_weights() -> None:
    target = known("qwen2.5-7b")
    room = Memory(name="card", free_mib=8000)
    case = LoadPlan(target=target, setting=Setting(), devices=(room,), host=room, margin_mib=0)
    found = project(case, LayerPlacement(layers=29))
    used = found.devices[0]

    allowed = 0.08 * used.model + 140
    exactly = replace(case, devices=(replace(room, free_mib=used.total() + allowed),))
    less = replace(case, devices=(replace(room, free_mib=used.total() + allowed - 1),))

    assert project(exactly, found.placement).extent == "yes"
    assert project(less, found.placement).extent == "barely"
    known_weights = replace(less, target=replace(target, weights_error=0.0))
    assert project(known_weights, found.placement).sure


def test_between_its_least_and_its_most_memory_a_plan_fits_by_chance() -> None:
    target = replace(known("qwen2.5-7b"), weights_error=0.0)
    host = Memory(name="host", free_mib=8000)
    card = Memory(name="card", free_mib=8000, estimated=True)
    case = LoadPlan(target=target, setting=Setting(), devices=(card,), host=host)
    total = project(case, LayerPlacement(layers=29)).devices[0].total()

    def with_free(mib: float) -> Projection:
        return fit(replace(case, devices=(replace(card, free_mib=mib),)))

    # The runtime takes 140 MiB, up to 800 MiB more are free, and the margin is 1,024 MiB.
    assert with_free(total + 1024).extent == "yes"
    assert with_free(total + 1023).extent == "barely"
    assert with_free(total - 660).extent == "barely"
    assert with_free(total - 661).extent == "partly"
    # Half way between 660 less and 1,024 more:
    assert with_free(total + 182).chance == pytest.approx(0.5)


def test_a_point_of_unknown_shape_is_refused() -> None:
    unknown = Point(id="x", model="~8B", source="a log", device_mib={"model": 7165.44})

    with pytest.raises(UnknownShapeError, match="'~8B' is unknown: add `arch`"):
        compared(unknown)


def test_a_logged_out_of_memory_case_does_not_fit() -> None:
    point = POINTS["idx-9b-4070-1000000-oom"]

    assert not project(
        replace(projected(point)[0], devices=(Memory(name=point.device, free_mib=12 * 1024),)),
        LayerPlacement(layers=33),
    ).fits


def test_the_planner_states_the_errors_that_it_has_now() -> None:
    """Renew them after a change: `python -m bench.plan --write`."""
    found = orjson.loads(errors_file())

    assert orjson.loads(ERRORS.read_bytes())["memory"] == pytest.approx(found["memory"])
    assert found["memory"]["cache_worst"] <= 0.02
    assert found["memory"]["total_median_mib"] <= 150
    assert found["speed"]["points"] > 40
    assert found["speed"]["within"] >= 0.8


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


@pytest.mark.parametrize(
    "name", ["idx-9b-4070-262144", "log-4b-131072-q8-mtp", "gh-4b-262144-q8", "gh-4b-262144-f16"]
)
def test_compute_buffers_at_long_contexts_are_within_ten_percent(name: str) -> None:
    fact, plan = compared(POINTS[name]).kinds["compute"]

    assert plan == pytest.approx(fact, rel=0.1)


def test_a_quantised_cache_needs_an_f16_copy_of_one_layer_on_a_device_only() -> None:
    target = known("qwen2.5-7b")
    eighth = Setting(kv_k="q8_0", kv_v="q8_0")
    whole, none = LayerPlacement(layers=29), LayerPlacement(layers=0)

    (device,), _ = place(target, eighth, whole)
    (usual,), _ = place(target, Setting(), whole)

    # 4,096 tokens of 512 keys and 512 values, of two bytes each
    assert device.compute - usual.compute == 8
    assert place(target, eighth, none)[1].compute == place(target, Setting(), none)[1].compute
    older = replace(eighth, before_june_2026=True)
    assert place(target, older, whole)[0][0].compute == 304 + 7  # logits, and a row more of 3,584
