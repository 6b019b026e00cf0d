"""Plans for cards with results agree with these results."""

import pytest

from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from planner.answer import Answer, answer
from planner.evidence import PairFigure, pairs

MEASURED = {
    (each.device, each.target): each
    for each in pairs()
    if each.tier != "published" and "thinking" not in each.target
}


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
