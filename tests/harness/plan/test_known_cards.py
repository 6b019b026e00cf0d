"""Plans for cards with results agree with these results."""

from pathlib import Path

import pytest

from answers.answer import Answer, answer
from answers.evidence import PairFigure, pairs
from harness.errors import BadInputError
from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from tests.samples import sample, sample_bytes

MEASURED = {
    (each.device, each.target): each
    for each in pairs()
    if each.tier != "published" and "thinking" not in each.target
}


def asked(model: str, results: tuple[Path, ...] = (), **machine: object) -> Answer:
    """The plan of a model on a described machine."""
    question = question_of(
        ModelOptions(target=model),
        load=LoadOptions(),
        computer=ComputerOptions(ram=32, **machine),  # type: ignore[arg-type]
        speed=SpeedOptions(results=results),
        say=lambda _: None,
    )
    return answer(question)


def test_a_result_of_another_model_or_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(sample_bytes(sample()))

    with pytest.raises(BadInputError, match=r"one.json: a result of .* on RTX 4060 8 GB, not of "):
        asked("qwen3-8b", (path,), gpus=("RTX 4070 12 GB",))


@pytest.mark.parametrize(
    ("model", "tps"),
    # Measured on an RTX 5060 Ti by InventiveHQ (CC BY 4.0), with everything on the card.
    [("qwen2.5-coder-14b:Q4_K_M", 43.18), ("qwen2.5-coder-7b:Q4_K_M", 81.26)],
)
def test_the_collections_results_of_a_card_predict_its_speed(model: str, tps: float) -> None:
    found = asked(model, gpus=("RTX 5060 Ti 16 GB",)).alone.tps

    assert found.low < tps < found.high


@pytest.mark.parametrize("pair", MEASURED.values(), ids=lambda x: f"{x.device} {x.target}")
def test_a_plan_never_recommends_a_setting_that_lost_on_the_card(pair: PairFigure) -> None:
    cards = (pair.card,) * pair.cards
    place = {"gpus": ("none",), "cpu": pair.card} if pair.on_cpu else {"gpus": cards}

    found = asked(f"{pair.model}:{pair.quantisations[0]}", **place)

    assert found.figures
    named = found.best.figures
    assert named is None or named.speedup > 0.97
