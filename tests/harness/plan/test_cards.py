"""Does the planner understand cards as people write them?"""

import pytest

from harness.plan.cards import NamedCards, cards_named, nearest_cards
from harness.plan.computer import computer_of
from harness.plan.options import ComputerOptions

SPELLINGS = {
    "3090": ("rtx 3090", 1),
    "GeForce RTX 3090 24 GB": ("rtx 3090", 1),
    "rtx3090 24gb": ("rtx 3090", 1),
    "2x 3090": ("rtx 3090", 2),
    "dual 3090": ("rtx 3090", 2),
    "3090 x2": ("rtx 3090", 2),
    "3x3060": ("rtx 3060", 3),
    "quad 3090": ("rtx 3090", 4),
    "2 \N{MULTIPLICATION SIGN} RTX 5060 Ti 16 GB": ("rtx 5060 ti", 2),
    "two P40s": ("tesla p40", 2),
    "twin 4090s": ("rtx 4090", 2),
    "4070tis": ("rtx 4070 ti super", 1),
    "RTX4060tisuper": None,
    "NVIDIA GeForce RTX 4060 Laptop GPU": ("rtx 4060 laptop", 1),
    "4060 mobile": ("rtx 4060 laptop", 1),
    "7900xtx 24 GB": ("rx 7900 xtx", 1),
    "Radeon RX 7800 XT": ("rx 7800 xt", 1),
    "m3max 64GB": ("apple m3 max", 1),
    "mac studio m2 ultra": ("apple m2 ultra", 1),
    "strix halo 128 GB": ("8060s", 1),
    "dgx spark": ("gb10", 1),
    "a100 40gb pcie": ("a100 pcie 40gb", 1),
    "a100 80gb pcie": ("a100 80gb pcie", 1),
    "RTX 6000 Ada": ("rtx 6000 ada generation", 1),
    "RTX 4075": None,
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_spelling_names_its_card_and_how_many(text: str) -> None:
    meant = SPELLINGS[text]

    assert cards_named(text) == (meant and NamedCards(name=meant[0], count=meant[1]))


def test_an_unknown_card_gets_the_three_nearest_names() -> None:
    assert nearest_cards("RTX 4075") == ("rtx 4070", "rtx 5070", "rtx 4090")


def test_several_of_a_card_have_its_only_size_each() -> None:
    found = computer_of(ComputerOptions(gpus=("dual 3090",))).devices

    assert len(found) == 2
    assert [card.bandwidth_gb_per_s for card in found] == [pytest.approx(936)] * 2
    assert all(22_000 < card.free_mib < 24 * 1024 for card in found)
