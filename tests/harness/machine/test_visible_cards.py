"""A file and its snapshots describe the cards that the engine computes on."""

import pytest

from harness.machine import nvidia
from harness.machine.nvidia import CardId, Visible

# The driver's order is that of the slots; CUDA's order has the fastest card first.
SLOW = CardId(uuid="GPU-aaaa1111-0000", address="00000000:01:00.0")
FAST = CardId(uuid="GPU-bbbb2222-0000", address="00000000:41:00.0")
CARDS = f"""\
{SLOW.uuid}, {SLOW.address}, NVIDIA GeForce RTX 3060, 12288, 580.95, 4, 8, 170.0, 170.0, Enabled
{FAST.uuid}, {FAST.address}, NVIDIA GeForce RTX 4090, 24564, 580.95, 4, 16, 450.0, 450.0, Disabled
"""
STATES = f"""\
{SLOW.uuid}, {SLOW.address}, 210, 41, 15.20, 0x0000000000000001
{FAST.uuid}, {FAST.address}, 2520, 66, 412.70, 0x0000000000000004
"""


@pytest.mark.parametrize(
    ("usable", "names"),
    [
        (Visible(), ["3060", "4090"]),
        # CUDA answers: its number 1 is the slower card, number 0 the faster one.
        (Visible(variable="1", addresses=("0000:01:00.0",)), ["3060"]),
        (Visible(variable="0", addresses=("0000:41:00.0",)), ["4090"]),
        (Visible(variable="0,1", addresses=("0000:41:00.0", "0000:01:00.0")), ["3060", "4090"]),
        # CUDA does not answer: numbers are in the driver's order, UUIDs match by prefix.
        (Visible(variable="1"), ["4090"]),
        (Visible(variable="GPU-bbbb"), ["4090"]),
        (Visible(variable="GPU-bbbb2222-0000,GPU-aaaa"), ["3060", "4090"]),
        (Visible(variable="1,7,0"), ["4090"]),
        (Visible(variable="-1"), []),
        (Visible(variable=""), []),
        (Visible(variable="0", addresses=()), []),
    ],
)
def test_the_file_lists_the_cards_that_may_be_used(usable: Visible, names: list[str]) -> None:
    found = nvidia.parse_cards(nvidia.chosen_rows(CARDS, usable), "")

    assert [gpu.name.removeprefix("NVIDIA GeForce RTX ") for gpu in found.gpus] == names


@pytest.mark.parametrize(
    ("usable", "numbers"),
    [
        (Visible(variable="1", addresses=("0000:41:00.0",)), (2520, 66, 412.7)),
        (Visible(), (210, 66, 427.9)),  # the worst of both, and their power together
    ],
)
def test_the_state_is_that_of_the_cards_in_use(
    usable: Visible, numbers: tuple[float, float, float]
) -> None:
    state = nvidia.parse_state(nvidia.chosen_rows(STATES, usable))

    found = (state.clock_mhz, state.temperature_c, state.power_w)
    assert found == pytest.approx(numbers)
    assert state.throttled is True


def test_without_the_variable_cuda_is_not_queried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    assert nvidia.visible() == Visible()
