"""Cards, models and quantisations are understood as people write them."""

import pytest

from harness.machine.computer import computer_of
from planner.errors import QuestionError
from planner.machines import MachineWords, described_computer
from planner.names import card_key, nearest_cards, read_model
from planner.sized_shapes import shape_named


def test_a_label_of_one_card_has_the_key_of_that_card() -> None:
    assert card_key("2 × RTX 3090 24 GB") == "rtx 3090"  # noqa: RUF001 - as labels have it
    assert card_key("RTX 5090 + RTX 3090") is None


def test_a_card_with_less_memory_can_be_slower_than_its_name_says() -> None:
    sizes = {
        gib: described_computer(MachineWords(gpus=(f"RTX 3080 {gib} GB",))).devices[0]
        for gib in (10, 12)
    }

    # 320 bits instead of 384.
    assert sizes[12].bandwidth_gb_per_s == pytest.approx(912)
    assert sizes[10].bandwidth_gb_per_s == pytest.approx(760.3)


def test_two_models_of_one_shape_keep_two_names() -> None:
    one, other = (read_model(name).slug for name in ("Qwen3.6-27B", "Qwen3.8-27B"))

    assert one != other
    assert shape_named(one) is shape_named(other)


def test_an_unknown_card_gets_the_three_nearest_names() -> None:
    assert nearest_cards("RTX 4075") == ("rtx 4070", "rtx a400", "rtx 5070")
    assert all(name.startswith("jetson ") for name in nearest_cards("Jetson"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RTX 4075", "no card is called 'RTX 4075'; nearest: rtx 4070, rtx a400, rtx 5070"),
        ("RTX 3090 + RTX 4075", "no card is called 'rtx 4075'"),
        ("Mac Studio 512GB", "does not name a chip; add it"),
        ("AMD Device 7551", "is a driver's placeholder for an unknown card"),
    ],
)
def test_an_error_names_the_part_that_was_not_understood(text: str, said: str) -> None:
    with pytest.raises(QuestionError) as error:
        described_computer(MachineWords(gpus=(text,)))

    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_several_of_a_card_have_its_only_size_each() -> None:
    found = computer_of(MachineWords(gpus=("dual 3090",))).devices

    assert len(found) == 2
    assert [card.bandwidth_gb_per_s for card in found] == [pytest.approx(936)] * 2
    assert all(22_000 < card.free_mib < 24 * 1024 for card in found)
