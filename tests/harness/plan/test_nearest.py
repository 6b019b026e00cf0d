"""Do results of the same card replace assumptions about its speed?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from estimates.plan.learned import learned
from estimates.plan.model import Facts
from estimates.plan.rates import Rate, reached
from estimates.plan.speed import MachineSpeed
from harness.errors import BadInputError
from harness.plan import nearest
from harness.plan.computer import Computer, computer_of
from harness.plan.inputs import plan_inputs
from harness.plan.nearest import with_results
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from harness.plan.planner import plan
from tests.samples import sample, sample_bytes

TARGET = Facts(name="any", embedding=0, vocabulary=0, layers=(), output_bytes=4e9)


def computer(*gpus: str) -> Computer:
    return computer_of(ComputerOptions(gpus=gpus, ram=32))


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
