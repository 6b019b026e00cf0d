"""An estimate begins with the median of its kind; figures of the model pull it."""

import math

import pytest

from planner.estimate import ALL, Median, Typical, pull
from planner.evidence import Rig
from planner.kinds import Case, machine_kind

CARD = Rig(card="rtx 3090")
KNOWN = Typical(
    digest="",
    every=1.2,
    kinds={"dense, mtp": Median(speedup=1.5, people=9)},
    cards={"dense, mtp, nvidia": Median(speedup=2.0, people=3)},
    reach={ALL: 2.0},
)


def case(**others: object) -> Case:
    usual = {"rig": CARD, "mixture": False, "method": "mtp"}
    return Case(**{**usual, **others})  # type: ignore[arg-type]


def test_a_kind_is_drawn_to_the_wider_one_by_its_people() -> None:
    found = KNOWN.log_speedup(case())

    # Nine elevenths of the way from 1.2 to 1.5, then half of the way to 2.0.
    kind = math.log(1.2) + 9 / 11 * math.log(1.5 / 1.2)
    assert found == pytest.approx((kind + math.log(2.0)) / 2)


def test_a_kind_of_card_that_nobody_tried_has_the_median_of_all_cards() -> None:
    other = KNOWN.log_speedup(case(rig=Rig(card="apple m4 max")))
    nothing = KNOWN.log_speedup(case(mixture=True))

    assert other == pytest.approx(math.log(1.2) + 9 / 11 * math.log(1.5 / 1.2))
    assert nothing == pytest.approx(math.log(1.2))


def test_people_here_move_the_estimate_about_n_of_n_plus_one() -> None:
    above = 0.2

    one, two, ten = (pull([(n, above)], []).shift / above for n in (1, 2, 10))

    # The variance of a place, 0.1² + 0.15², over it and 0.2² for one person.
    assert one == pytest.approx(0.0325 / 0.0725)
    assert two == pytest.approx(0.0325 / 0.0525)
    assert ten == pytest.approx(0.0325 / 0.0365)


def test_figures_from_elsewhere_move_it_less_and_no_figure_moves_it_far() -> None:
    near, far, wild = (
        pull([(5, 0.3)], []).shift,
        pull([], [(5, 0.3)]).shift,
        pull([], [(5, 3.0)]).shift,
    )

    # 0.1² over it, 0.15² and a fifth of 0.2².
    assert far == pytest.approx(0.3 * 0.01 / (0.01 + 0.0225 + 0.008))
    assert far < near < 0.3
    assert wild == pull([], [(5, 0.7)]).shift


def test_figures_narrow_the_interval() -> None:
    none, elsewhere, one, ten = (
        found.deviation
        for found in (pull([], []), pull([], [(9, 0.1)]), pull([(1, 0.1)], []), pull([(10, 0)], []))
    )

    assert none > elsewhere > one > ten
    # Between people 0.2; nothing else is left when very many people were here.
    assert pull([(1e9, 0.1)], []).deviation == pytest.approx(0.2)


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
        ("8060s", "amd shared"),
        ("card with", "unknown"),
    ],
)
def test_cards_that_verify_alike_are_of_one_kind(card: str, kind: str) -> None:
    assert machine_kind(Rig(card=card)) == kind


def test_a_processor_is_a_kind_of_its_own() -> None:
    assert machine_kind(Rig(card="16 cores", on_cpu=True)) == "cpu"
