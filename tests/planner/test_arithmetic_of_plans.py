"""Buffers, placements and speeds of a plan agree with values worked out by hand."""

import pytest
from msgspec.structs import replace

from planner.acceptance import gain_of
from planner.estimate import Setup
from planner.machines import Computer
from planner.memory import cells, kv_mib, place
from planner.model import Layer, LayerPlacement, Memory, ModelFacts, Setting
from planner.names import read_model
from planner.placement import LoadPlan, Projection, fit
from planner.question import Question
from planner.rounds import tokens_per_round
from planner.shapes import scaled, shape_of
from planner.speed import SpeedEstimate, nominal_speed, plain, step_bytes
from planner.ways import PlannedModel, Way
from tests.known_models import known

MIB = 1024 * 1024
ATTENTION = Layer(k_width=1024, v_width=1024, weight_bytes=100 * MIB)


def facts(*layers: Layer, **others: float) -> ModelFacts:
    small = ModelFacts(
        name="small",
        embedding=1024,
        vocabulary=32000,
        layers=layers,
        feed_forward=4096,
        embedding_bytes=50 * MIB,
        output_bytes=60 * MIB,
    )
    return replace(small, **others)  # type: ignore[arg-type]


def test_a_layer_keeps_its_widths_for_every_cell() -> None:
    # 2048 values · 8192 tokens · 2 bytes = 32 MiB; 34 bytes for 32 values in q8_0
    assert kv_mib(ATTENTION, Setting(context=8192)) == 32
    assert kv_mib(ATTENTION, Setting(context=8192, kv_k="q8_0", kv_v="q8_0")) == 17


def test_a_window_keeps_its_tokens_and_a_micro_batch() -> None:
    setting = Setting(context=8192, ubatch=2048)

    assert cells(setting, 1024) == 3072
    assert cells(setting, None) == 8192
    # Four sequences share one cache, or have a quarter of the context each.
    assert cells(replace(setting, slots=4, context=65536), 1024) == 4 * 1024 + 2048
    assert cells(replace(setting, slots=4, unified=False), 1024) == 4 * 2048


def test_embedding_stays_in_host_memory_and_the_last_layers_go_to_the_device() -> None:
    devices, host = place(facts(*[ATTENTION] * 4), Setting(), LayerPlacement(layers=3))

    # Three are two layers and the output layer.
    assert devices[0].model == 2 * 100 + 60
    assert host.model == 2 * 100 + 50
    assert (devices[0].kv, host.kv) == (32, 32)


def test_a_tied_matrix_is_loaded_twice_only_with_a_device() -> None:
    tied = facts(ATTENTION, tied=True, output_bytes=50 * MIB)

    on_device = place(tied, Setting(), LayerPlacement(layers=2))
    on_host = place(tied, Setting(), LayerPlacement(layers=0))

    assert (on_device[0][0].model, on_device[1].model) == (150, 50)
    assert on_host[1].model == 150


def test_two_devices_share_the_layers_by_their_room() -> None:
    devices, _ = place(facts(*[ATTENTION] * 8), Setting(), LayerPlacement(layers=9, share=(1, 2)))

    # Nine parts, the output layer among them: three and six.
    assert [round(each.kv / 16) for each in devices] == [3, 5]
    assert [round(each.model) for each in devices] == [300, 560]


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Llama-3.1-8B", 8.03),
        ("Qwen3-30B-A3B", 30.5),
        ("Qwen3.5-27B", 26.9),
        ("gpt-oss-20b", 20.9),
        ("gemma-2-2b", 2.61),
        ("SmolLM2-135M", 0.135),
    ],
)
def test_a_shape_in_the_table_has_the_parameters_that_the_model_is_known_for(
    name: str, billions: float
) -> None:
    shape = shape_of(read_model(name).slug)

    assert shape is not None
    assert shape.parameters / 1e9 == pytest.approx(billions, rel=0.01)


def case(target: ModelFacts, free_mib: float, **others: object) -> LoadPlan:
    usual = LoadPlan(
        target=target,
        setting=Setting(context=2048),
        devices=(Memory(name="card", free_mib=free_mib, bandwidth_gb_per_s=272),),
        host=Memory(name="host", free_mib=30_000, bandwidth_gb_per_s=76.8),
    )
    return replace(usual, **others)  # type: ignore[arg-type]


MACHINE = nominal_speed(272, 76.8)


def gained(
    load: LoadPlan, found: Projection, alone: Projection, base: SpeedEstimate, way: Way
) -> SpeedEstimate:
    """The speedup over the target alone, with this placement."""
    computer = Computer(devices=load.devices, host=load.host, speed=MACHINE)
    target = PlannedModel(facts=load.target, path=None, server_name="")
    question = Question(
        name="", model="", target=target, computer=computer, setting=load.setting, pairs=()
    )
    setup = Setup(question=question, plain=base, found=alone)
    return gain_of(setup, load, found, way, max(way.depths))


def test_experts_of_a_mixture_leave_the_device_before_layers() -> None:
    found = fit(case(known("Qwen3.5-35B-A3B", "Q4_K_M"), 7000))

    assert found.placement.layers == 41
    assert 25 <= found.placement.cpu_experts <= 35


def test_a_round_yields_one_token_plus_the_accepted_ones() -> None:
    # 1/2, and for the second token 1/2 to the power of 1.35.
    assert tokens_per_round(0.5, 2) == pytest.approx(1.5 + 0.5**2.35)
    assert tokens_per_round(0.0, 5) == 1
    assert tokens_per_round(1.0, 3) == 4


def test_the_table_of_an_8_gb_card_comes_out_as_it_was_measured() -> None:
    """RTX 4060 8 GB, DDR5-4800: 3.5 tokens/s alone, 3.1, 2.8 and 2.5 with drafts, 33 for 9B."""
    target = known("Qwen3.5-27B", "Q4_K_M")
    alone = case(target, 7080)
    base_found = fit(alone)
    base = plain(alone, base_found, MACHINE)

    speeds, layers = [], []
    for name in ("Qwen3.5-0.8B", "Qwen3.5-4B", "Qwen3.5-9B"):
        draft = known(name, "Q4_K_M")
        both = replace(alone, draft=draft)
        found = fit(both)
        how = Way(source="model", method="draft-model", depths=(8,))
        assert found.fits
        speeds.append(gained(both, found, base_found, base, how).estimate)
        layers.append(found.placement.layers)

    assert base.estimate == pytest.approx(3.5, rel=0.25)
    assert base_found.placement.layers > layers[0] > layers[1] > layers[2] == 0
    assert 1 > speeds[0] > speeds[1] > speeds[2]
    small = case(known("Qwen3.5-9B", "Q4_K_M"), 7080)
    assert plain(small, fit(small), MACHINE).estimate == pytest.approx(33, rel=0.25)
    mixture = case(known("Qwen3.5-35B-A3B", "Q4_K_M"), 7080)
    assert plain(mixture, fit(mixture), MACHINE).estimate > 2 * base.estimate


def test_state_copies_for_four_slots_take_layers_off_the_card() -> None:
    """RTX 3090, 27B in Q5: 51.0 tokens/s with one slot, 30.7 without the head, 30.4 with four."""
    target = scaled(known("Qwen3.8-27B", "UD-Q5_K_M", with_head=True), file_bytes=19_760_583_584)
    machine = nominal_speed(936, None)
    setting = Setting(context=8192, ubatch=2048)
    head = Way(source="own-head", method="mtp", depths=(2,))

    def with_head(slots: int, free_mib: float) -> tuple[int, float]:
        asked = case(
            target,
            free_mib,
            setting=replace(setting, slots=slots, rollback_states=2),
            uses_head=True,
        )
        found = fit(asked, certain=True)  # as the engine placed it
        alone = fit(asked.without_speculation())
        base = plain(asked.without_speculation(), alone, machine)
        gain = gained(asked, found, alone, base, head)
        return found.placement.layers, gain.estimate

    alone = case(target, 22916, setting=replace(setting, slots=4))
    one, four = with_head(1, 23075), with_head(4, 21755)

    assert plain(alone, fit(alone), machine).estimate == pytest.approx(30.7, rel=0.1)
    assert one == (66, pytest.approx(51.0 / 30.7, rel=0.1))
    assert four[0] in (61, 62, 63)
    assert four[1] < one[1]


def test_three_layers_one_of_them_in_main_memory_and_a_head() -> None:
    """Of layers of 10 + 100, 20 + 200 and 40 + 400 bytes the last two are on the device.

    The experts of the second stay in main memory, too. The head's layer is on the device and no
    plain step reads it.
    """
    facts = ModelFacts(
        name="made",
        embedding=8,
        vocabulary=8,
        layers=tuple(Layer(weight_bytes=n, expert_bytes=10 * n) for n in (10.0, 20.0, 40.0)),
        draft_layers=(Layer(weight_bytes=5.0),),
        output_bytes=7.0,
        embedding_bytes=9.0,
    )

    found = step_bytes(facts, LayerPlacement(layers=4, cpu_experts=2), Setting())

    assert (found.device, found.host) == (67.0 + 2 * 400.0, 10.0 + 300.0)
