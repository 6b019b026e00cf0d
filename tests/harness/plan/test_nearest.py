"""Do results of the same card replace assumptions about its speed?"""

from __future__ import annotations

from pathlib import Path

import pytest

from estimates.plan.speed import Machine
from harness.errors import BadInputError
from harness.plan import nearest
from harness.plan.computer import Computer, computer_of
from harness.plan.nearest import with_results
from harness.plan.request import ComputerOptions
from tests.samples import sample, sample_bytes


def computer(*gpus: str) -> Computer:
    return computer_of(ComputerOptions(gpus=gpus, ram=32))


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection of one result: 3.5 GB of weights at about 50 tokens/s on an RTX 4060."""
    path = tmp_path / "one.json"
    path.write_bytes(sample_bytes(sample()))
    monkeypatch.setattr(nearest, "COLLECTION", tmp_path)
    return path


@pytest.mark.usefixtures("collection")
def test_a_result_of_the_same_card_tells_what_its_memory_reaches() -> None:
    found = with_results(computer("RTX 4060 8 GB"), (), None).speed

    # The sample's rounds take about 20.1 ms each and read 3.5 GB.
    assert found.device_reached_gb_per_s == pytest.approx(3.5 / 0.0201, rel=0.02)
    assert found.host_reached_gb_per_s is None


@pytest.mark.usefixtures("collection")
def test_a_result_of_another_card_tells_nothing() -> None:
    assert with_results(computer("RTX 4070 12 GB"), (), None).speed == Machine(
        device_gb_per_s=504, host_gb_per_s=None
    )


def test_a_file_that_is_named_counts_for_any_card(collection: Path) -> None:
    found = with_results(computer("RTX 4070 12 GB"), (collection,), None).speed

    assert found.device_reached_gb_per_s is not None


def test_a_file_that_is_no_result_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    path.write_text("{}")

    with pytest.raises(BadInputError, match=r"no\.json"):
        with_results(computer("none"), (path,), None)


@pytest.mark.parametrize(
    ("model", "tps"),
    # Measured on an RTX 5060 Ti by InventiveHQ (CC BY 4.0), with everything on the card.
    [("qwen2.5-coder-14b:Q4_K_M", 43.18), ("qwen2.5-coder-7b:Q4_K_M", 81.26)],
)
def test_the_collections_results_of_a_card_predict_its_speed(model: str, tps: float) -> None:
    from harness.plan.planner import plan  # noqa: PLC0415 - slow to import
    from harness.plan.request import ModelOptions, PlanRequest  # noqa: PLC0415

    request = PlanRequest(
        models=ModelOptions(target=model),
        computer=ComputerOptions(gpus=("RTX 5060 Ti 16 GB",), ram=32),
    )
    found = plan(request, say=lambda _: None).alone.tps

    assert found.basis == "nearest"
    assert found.low < tps < found.high
