"""Results of the same card replace assumptions about its speed."""

from dataclasses import replace
from pathlib import Path

import pytest

from answers.choices import Plan, PlannedModel
from answers.learned import learned
from answers.machines import Computer, MachineWords
from answers.measured import MeasuredSetting
from answers.measured import nearest as nearest_setting
from answers.model import ModelFacts
from answers.rates import Rate, reached
from answers.speed import MachineSpeed
from harness.errors import BadInputError
from harness.machine.computer import computer_of
from harness.plan import nearest
from harness.plan.inputs import plan_inputs
from harness.plan.nearest import with_results
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from harness.plan.planner import plan
from schemas.vocabulary import METHODS
from tests.samples import sample, sample_bytes

TARGET = PlannedModel(
    facts=ModelFacts(name="any", embedding=0, vocabulary=0, layers=(), output_bytes=4e9),
    path=None,
    server_name="any.gguf",
)


def computer(*gpus: str) -> Computer:
    return computer_of(MachineWords(gpus=gpus, ram=32))


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection of one result: 3.5 GB of weights at about 50 tokens/s on an RTX 4060."""
    path = tmp_path / "one.json"
    path.write_bytes(sample_bytes(sample()))
    monkeypatch.setattr(nearest, "COLLECTION", tmp_path)
    monkeypatch.setattr(nearest, "learned", lambda: replace(learned(), rates=()))
    return path


@pytest.mark.usefixtures("collection")
def test_a_result_of_the_same_card_tells_what_its_memory_reaches() -> None:
    found = with_results(computer("RTX 4060 8 GB"), (), TARGET).speed

    # The sample's rounds take about 20.1 ms each and read 3.5 GB.
    assert found.device_reached_gb_per_s == pytest.approx(3.5 / 0.0201, rel=0.02)
    assert found.host_reached_gb_per_s is None


@pytest.mark.usefixtures("collection")
def test_a_result_of_another_card_tells_nothing() -> None:
    assert with_results(computer("RTX 4070 12 GB"), (), TARGET).speed == MachineSpeed(
        device_gb_per_s=504, host_gb_per_s=None
    )


def test_a_file_that_is_named_counts_for_any_card(collection: Path) -> None:
    found = with_results(computer("RTX 4070 12 GB"), (collection,), TARGET).speed

    assert found.device_reached_gb_per_s is not None


def test_a_file_that_is_no_result_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    path.write_text("{}")

    with pytest.raises(BadInputError, match=r"no\.json"):
        with_results(computer("none"), (path,), TARGET)


@pytest.mark.parametrize(
    ("model", "tps"),
    # Measured on an RTX 5060 Ti by InventiveHQ (CC BY 4.0), with everything on the card.
    [("qwen2.5-coder-14b:Q4_K_M", 43.18), ("qwen2.5-coder-7b:Q4_K_M", 81.26)],
)
def test_the_collections_results_of_a_card_predict_its_speed(model: str, tps: float) -> None:
    inputs = plan_inputs(
        ModelOptions(target=model),
        load=LoadOptions(),
        computer=ComputerOptions(gpus=("RTX 5060 Ti 16 GB",), ram=32),
        speed=SpeedOptions(),
        say=lambda _: None,
    )

    found = plan(inputs).alone.tps

    assert found.basis == "nearest"
    assert found.low < tps < found.high


def planned(measured: MeasuredSetting) -> Plan:
    """The plan of a measured setting on its own device and model, as a person would ask for it."""
    place = {"gpus": ("none",), "cpu": measured.device} if measured.on_cpu else {}
    drafts = "smollm2-135m:Q4_1" if METHODS[measured.method].draft == "required" else "ngram"
    inputs = plan_inputs(
        ModelOptions(target=f"{measured.model}:{measured.quantisation}", draft=drafts),
        load=LoadOptions(depth=measured.depth or 3),
        computer=ComputerOptions(ram=32, **place),  # type: ignore[arg-type]
        speed=SpeedOptions(),
        say=lambda _: None,
    )
    return plan(inputs)


@pytest.mark.parametrize("measured", learned().best, ids=lambda x: f"{x.device} {x.method}")
def test_a_plan_never_names_what_was_measured_to_lose_there(measured: MeasuredSetting) -> None:
    named = planned(measured).best.speculation
    same = [
        each
        for each in learned().best
        if (each.device, each.model) == (measured.device, measured.model)
        if named and (each.method, each.depth) == (named.method, named.depth)
        if each.quantisation == measured.quantisation
    ]

    assert all(each.recommended and each.speedup > 0.97 for each in same)


def test_what_helped_there_is_named_with_what_it_gained() -> None:
    setting = MeasuredSetting(
        device="epyc", on_cpu=True, model="m", quantisation="F16", method="ngram-simple", depth=8,
        speedup=1.4, low=1.2, high=1.6, recommended=True,
    )  # fmt: skip
    lost = replace(setting, depth=4, speedup=0.8, recommended=False)

    assert nearest_setting([setting, lost], "ngram-simple", 8) == setting
    assert nearest_setting([setting, lost], "ngram-simple", 3) == lost
    assert nearest_setting([setting], "ngram-simple", 3) is None
    assert nearest_setting([setting, lost], "draft-model", 8) is None


def rate(gb: float, gb_per_s: float, device: str = "card") -> Rate:
    return Rate(
        device=device,
        on_cpu=False,
        model="any",
        tps=gb_per_s / gb,
        gb_per_token=gb,
        gb_per_s=gb_per_s,
        source="test",
    )


def test_the_models_nearest_in_size_tell_the_rate() -> None:
    # 4.1 and 4.4 GB are near 4; 0.2 GB is another kind of load.
    rates = [rate(0.2, 100), rate(4.1, 300), rate(4.4, 320)]

    assert reached(rates, 4.0) == 310
    assert reached(rates, 0.1) == 100
    assert reached([], 4.0) is None
