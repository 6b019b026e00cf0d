"""The figures of the map, as answers find and state them."""

import pytest
from msgspec.structs import replace

from answers.evidence import PairFigure, of_task
from answers.kin import Rig, kin_of, pairs_here
from tests.answers.figures import pair

# One person and one more: exp(1.6449 · 0.15 · √2); of two √1.5, of three √(4/3).
ONE, TWO, THREE = 1.4176, 1.3528, 1.3296


@pytest.mark.parametrize(("people", "factor"), [(1, ONE), (2, TWO), (3, THREE)])
def test_a_published_figure_has_the_interval_of_one_more_person(people: int, factor: float) -> None:
    low, high = pair(1.5, people=people).interval

    assert (low, high) == (
        pytest.approx(1.5 / factor, rel=1e-4),
        pytest.approx(1.5 * factor, rel=1e-4),
    )


def test_a_measured_figure_has_its_own_interval() -> None:
    assert pair(1.5, tier="measured", low=1.4, high=1.6).interval == (1.4, 1.6)


def test_figures_of_the_task_come_first_then_those_over_all_tasks() -> None:
    here = [
        pair(1.1),
        pair(2.0, task="code"),
        pair(0.9, task="chat"),
        pair(3.0, quantisation="F16"),
    ]

    assert [each.speedup for each in of_task(here, "code")] == [2.0]
    assert [each.speedup for each in of_task(here, "math")] == [1.1]
    assert [each.speedup for each in of_task(here, None)] == [1.1]


def test_the_method_that_most_people_tried_comes_first() -> None:
    here = [pair(2.0, method="dflash"), pair(1.1, method="mtp", people=3)]

    assert [each.method for each in of_task(here, None)] == ["mtp", "dflash"]


@pytest.mark.parametrize(
    ("rig", "here"),
    [
        (Rig(card="rtx 3080", gib=10.0), True),
        (Rig(card="rtx 3080"), True),  # of unknown size
        (Rig(card="rtx 3080", gib=12.0), False),
        (Rig(card="rtx 3080", cards=2, gib=20.0), False),
        (Rig(card="rtx 3090", gib=10.0), False),
        (Rig(card="rtx 3080", on_cpu=True), False),
    ],
)
def test_a_figure_is_about_a_card_of_its_size_and_number(rig: Rig, *, here: bool) -> None:
    known = pair(1.5, card="rtx 3080", gib=10)

    assert bool(pairs_here([known], rig)) is here


def test_the_similar_machine_that_most_people_tried_is_quoted() -> None:
    def on(card: str, **others: object) -> PairFigure:
        return pair(1.2, card=card, device=card, **others)

    several = on("rtx 3090", people=3)
    known = [on("rtx 4080"), several, on("apple m4 max", people=9), on("rtx 4070", task="code")]
    rig = Rig(card="rtx 4090")

    assert kin_of(known, rig, "mtp") == several
    assert kin_of(known, rig, "dflash") is None
    # Apple's chips are compared only within their generation.
    assert kin_of(known, Rig(card="apple m2"), "mtp") is None
    assert kin_of([replace(several, card="rtx 4090")], rig, "mtp") is None  # this very card
