"""Results of the same card replace assumptions about its speed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from answers.answer import Answer, answer
from answers.evidence import PairFigure, pairs
from answers.learned import learned
from answers.machines import Computer, MachineWords
from answers.model import ModelFacts
from answers.rates import Rate, rates_of, reached, with_rates
from answers.speed import Bandwidth
from answers.ways import PlannedModel
from harness.errors import BadInputError
from harness.machine.computer import computer_of
from harness.plan import nearest
from harness.plan.inputs import question_of
from harness.plan.nearest import with_results
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from tests.samples import sample, sample_bytes

TARGET = PlannedModel(
    facts=ModelFacts(name="any", embedding=0, vocabulary=0, layers=(), output_bytes=4e9),
    path=None,
    server_name="any.gguf",
)


def computer(*gpus: str) -> Computer:
    return computer_of(MachineWords(gpus=gpus, ram=32))


def asked(model: str, **machine: object) -> Answer:
    """The plan of a model on a described machine."""
    question = question_of(
        ModelOptions(target=model),
        load=LoadOptions(),
        computer=ComputerOptions(ram=32, **machine),  # type: ignore[arg-type]
        speed=SpeedOptions(),
        say=lambda _: None,
    )
    return answer(question)


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A result of 3.5 GB of weights at about 50 tokens/s on an RTX 4060, without other facts."""
    path = tmp_path / "one.json"
    path.write_bytes(sample_bytes(sample()))
    monkeypatch.setattr(nearest, "learned", lambda: replace(learned(), rates=()))
    return path


def test_a_result_of_the_same_card_gives_its_memory_rate(result: Path) -> None:
    found = with_results(computer("RTX 4060 8 GB"), (result,), TARGET).speed

    # The sample's rounds take about 20.1 ms each and read 3.5 GB.
    assert found.device.gb_per_s == pytest.approx(3.5 / 0.0201, rel=0.02)
    assert not found.host.nearest


def test_a_rate_of_another_card_tells_nothing() -> None:
    rates = [rate(4.0, 180, "rtx 4060")]

    def reached(card: str) -> Bandwidth:
        here = computer(card)
        own = rates_of(here, rates)
        return with_rates(here, own, TARGET.facts).speed.device

    assert not reached("RTX 4070 12 GB").nearest
    assert reached("RTX 4060 8 GB").gb_per_s == pytest.approx(180)


def test_a_file_of_another_card_is_refused(result: Path) -> None:
    with pytest.raises(BadInputError, match="measured on RTX 4060 8 GB, but the plan is for rtx 4"):
        with_results(computer("RTX 4070 12 GB"), (result,), TARGET)

    found = with_results(computer("RTX 4060 8 GB"), (result,), TARGET).speed
    assert found.device.nearest


@pytest.mark.parametrize(
    ("model", "tps"),
    # Measured on an RTX 5060 Ti by InventiveHQ (CC BY 4.0), with everything on the card.
    [("qwen2.5-coder-14b:Q4_K_M", 43.18), ("qwen2.5-coder-7b:Q4_K_M", 81.26)],
)
def test_the_collections_results_of_a_card_predict_its_speed(model: str, tps: float) -> None:
    found = asked(model, gpus=("RTX 5060 Ti 16 GB",)).alone.tps

    assert found.basis != "physics"
    assert found.low < tps < found.high


MEASURED = {
    (each.device, each.target): each
    for each in pairs()
    if each.tier != "published" and "thinking" not in each.target
}


@pytest.mark.parametrize("pair", MEASURED.values(), ids=lambda x: f"{x.device} {x.target}")
def test_a_plan_never_recommends_a_setting_that_lost_on_the_card(pair: PairFigure) -> None:
    cards = (pair.card,) * pair.cards
    place = {"gpus": ("none",), "cpu": pair.card} if pair.on_cpu else {"gpus": cards}

    found = asked(f"{pair.model}:{pair.quantisations[0]}", **place)

    assert found.figures
    named = found.best.figures
    assert named is None or named.speedup > 0.97


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
