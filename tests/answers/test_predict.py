"""A prediction adds up the effects of a setting; untried parts widen its interval."""

import math

import pytest

from answers.effects import Case, effects_of, machine_kind
from answers.kin import Rig
from answers.predict import Coverage, Fitted, predict

CARD = Rig(card="rtx 3090")
USUAL_TPS = 30.0  # whose logarithm is the zero of the slope


def case(**others: object) -> Case:
    usual = {
        "rig": CARD, "unified": False, "model": "qwen3.5-9b", "mixture": False, "method": "mtp",
        "depth": 3, "plain_tps": USUAL_TPS, "physics": math.log(1.5),
    }  # fmt: skip
    return Case(**{**usual, **others})  # type: ignore[arg-type]


def fitted(effects: dict[str, tuple[float, float]], **spreads: float) -> Fitted:
    kinds = {
        "all": Coverage(widths=2.0, held=0.9, figures=100, people=40),
        "dense, mtp": Coverage(widths=1.5, held=0.88, figures=60, people=20),
    }
    return Fitted(digest="", noise=0.3, spreads=spreads, effects=effects, kinds=kinds)


def test_a_setting_has_its_quantities_and_its_levels() -> None:
    found = effects_of(case(plain_tps=60.0, task="code", depth=6))

    assert found["all"] == 1.0
    assert found["physics"] == pytest.approx(0.405, abs=1e-3)
    assert found["plain speed"] == pytest.approx(0.693, abs=1e-3)  # twice the usual speed
    assert {name for name, value in found.items() if value == 1.0} - {"all"} == {
        *("method|mtp", "method and shape|mtp|dense", "kind|nvidia", "kind and method|nvidia|mtp"),
        *("kind and shape|nvidia|dense", "kind, shape and method|nvidia|dense|mtp"),
        *(
            "engine|llama.cpp",
            "engine and method|llama.cpp|mtp",
            "engine and kind|llama.cpp|nvidia",
        ),
        *("depth|mtp|4", "depth and shape|mtp|4|dense", "task|code"),
        *("task and depth|code|deep", "pair|qwen3.5-9b|mtp", "card|rtx 3090"),
    }


def test_text_drafts_gain_no_more_if_plain_decoding_is_slow() -> None:
    found = effects_of(case(method="ngram-simple", plain_tps=2.0, partly=True))

    assert "plain speed" not in found
    assert "partly|dense" not in found


@pytest.mark.parametrize(
    ("card", "kind"),
    [
        ("tesla v100 sxm2 32gb", "nvidia old"),
        ("gb10", "nvidia shared"),
        ("h100 80gb hbm3", "nvidia datacentre"),
        ("rtx a6000", "nvidia"),
        ("apple m4 max", "apple m4"),
        ("rx 7900 xtx", "amd"),
        ("ai pro r9700", "amd"),
        ("arc pro b70", "intel"),
        ("card with", "unknown"),
    ],
)
def test_cards_that_verify_alike_are_of_one_kind(card: str, kind: str) -> None:
    assert machine_kind(Rig(card=card), unified=False) == kind


def test_graphics_that_share_main_memory_are_a_separate_kind() -> None:
    assert machine_kind(Rig(card="8060s"), unified=True) == "amd shared"
    assert machine_kind(Rig(card="16 cores", on_cpu=True), unified=False) == "cpu"


def test_known_effects_are_added_up() -> None:
    fit = fitted({"all": (0.2, 0.0), "physics": (0.5, 0.0), "method|mtp": (-0.1, 0.04)})

    gain = predict(case(), fit).gain

    # 0.2 + 0.5 ln 1.5 - 0.1, and 1.5 widths of the root of 0.3² + 0.04².
    assert math.log(gain.estimate) == pytest.approx(0.3027, abs=1e-4)
    assert math.log(gain.high / gain.estimate) == pytest.approx(0.4540, abs=1e-4)
    assert gain.estimate / gain.low == pytest.approx(gain.high / gain.estimate)
    assert gain.basis == "predicted"


def test_an_untried_card_widens_the_interval() -> None:
    known = {"pair|qwen3.5-9b|mtp": (0.0, 0.1), "card|rtx 3090": (0.0, 0.1)}
    fit = fitted(known, pair=0.4, card=0.2)

    near, far = predict(case(), fit), predict(case(rig=Rig(card="rtx 4000")), fit)

    # √(0.3² + 0.1² + 0.1²) and √(0.3² + 0.1² + 0.2²), times 1.5.
    assert math.log(near.gain.high / near.gain.estimate) == pytest.approx(0.4975, abs=1e-4)
    assert math.log(far.gain.high / far.gain.estimate) == pytest.approx(0.5612, abs=1e-4)


def test_the_targets_loss_beside_the_draft_counts_in_full() -> None:
    fit = fitted({"all": (0.3, 0.0)})

    gain = predict(case(displaced=math.log(0.5)), fit).gain

    assert gain.estimate == pytest.approx(0.5 * math.exp(0.3))


def test_a_kind_that_few_people_tried_has_the_intervals_of_all() -> None:
    fit = fitted({})

    assert predict(case(), fit).coverage == fit.kinds["dense, mtp"]
    assert predict(case(mixture=True), fit).coverage == fit.kinds["all"]


def test_no_prediction_exceeds_the_limits_of_its_rounds() -> None:
    fit = fitted({"all": (math.log(1.9), 0.0)})
    limits = {"usual_limit": math.log(1.24), "limit": math.log(1.33)}

    gain = predict(case(**limits), fit).gain
    beside = predict(case(**limits, displaced=math.log(0.5)), fit).gain

    assert (gain.estimate, gain.high) == (pytest.approx(1.24), pytest.approx(1.33))
    assert (beside.estimate, beside.high) == (pytest.approx(0.62), pytest.approx(0.665))
    # The lower end is 1.5 widths of 0.3 below the estimate.
    assert gain.low == pytest.approx(1.24 * math.exp(-0.45))
