"""The figures of the map, as answers find and state them."""

import pytest

from planner.evidence import Rig, of_model, of_task
from tests.planner.figures import pair


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

    assert rig.has(known) is here


def test_a_mode_of_a_model_has_the_figures_of_the_model() -> None:
    known = {
        "a-27b": (pair(1.0, model="a-27b", target_name="A 27B"),),
        "a-27b-thinking": (pair(1.0, model="a-27b-thinking", target_name="A 27B, thinking"),),
        "b-7b": (pair(1.0, model="b-7b", target_name="B 7B"),),
        "b-7b-thinking": (pair(1.0, model="b-7b-thinking", target_name="B-7B-Thinking"),),
    }
    names = {
        asked: [each.target_name for each in of_model(known, asked)]
        for asked in (*known, "c-1b-thinking")
    }

    assert names == {
        "a-27b": ["A 27B", "A 27B, thinking"],
        "a-27b-thinking": ["A 27B", "A 27B, thinking"],
        "b-7b": ["B 7B"],
        "b-7b-thinking": ["B-7B-Thinking"],
        "c-1b-thinking": [],
    }
