"""The planner understands cards as people write them."""

import tomllib
from pathlib import Path

import pytest

from answers.machines import MachineWords
from answers.names import cards_named, nearest_cards
from harness.machine.computer import computer_of

SPELLINGS = tomllib.loads(Path("tests/data/cards.toml").read_text("utf-8"))["cards"]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_spelling_names_its_card_and_how_many(text: str) -> None:
    meant = SPELLINGS[text]

    assert cards_named(text) == (tuple(meant) if meant else None)


def test_an_unknown_card_gets_the_three_nearest_names() -> None:
    assert nearest_cards("RTX 4075") == ("rtx 4070", "rtx 5070", "rtx 4090")
    assert nearest_cards("H100") == ("h100 pcie", "h100 80gb hbm3")
    assert nearest_cards("V100") == ("tesla v100 sxm2 16gb", "tesla v100 sxm2 32gb")
    assert all(name.startswith("jetson ") for name in nearest_cards("Jetson"))


def test_several_of_a_card_have_its_only_size_each() -> None:
    found = computer_of(MachineWords(gpus=("dual 3090",))).devices

    assert len(found) == 2
    assert [card.bandwidth_gb_per_s for card in found] == [pytest.approx(936)] * 2
    assert all(22_000 < card.free_mib < 24 * 1024 for card in found)
