"""Do file, state and energy speak of the cards that the engine computes on?"""

import pytest

from harness.machine import nvidia
from harness.machine.nvidia import CardId, Visible
from harness.machine.nvml import NvmlCounter
from tests.harness.test_energy import FakeNvml

# The driver's order is that of the slots; CUDA's own puts the fastest card first.
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
        # CUDA itself was asked: its number 1 is the slower card, number 0 the faster one.
        (Visible(variable="1", addresses=("0000:01:00.0",)), ["3060"]),
        (Visible(variable="0", addresses=("0000:41:00.0",)), ["4090"]),
        (Visible(variable="0,1", addresses=("0000:41:00.0", "0000:01:00.0")), ["3060", "4090"]),
        # It could not be asked: numbers in the driver's order, UUIDs by their beginning.
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


def test_the_state_is_that_of_the_card_in_use() -> None:
    usable = Visible(variable="1", addresses=("0000:41:00.0",))

    state = nvidia.parse_state(nvidia.chosen_rows(STATES, usable))

    assert (state.clock_mhz, state.temperature_c, state.power_w) == (2520, 66, 412.7)
    assert state.throttled is True


def test_the_state_of_several_cards_is_the_worst_of_them_and_their_power_together() -> None:
    state = nvidia.parse_state(nvidia.chosen_rows(STATES, Visible()))

    assert (state.clock_mhz, state.temperature_c) == (210, 66)
    assert state.power_w == pytest.approx(427.9)
    assert state.throttled is True


@pytest.mark.parametrize(
    ("usable", "joules"),
    [
        # The counters are read as 1, 2, ...: the only card's twice is one step apart.
        (Visible(variable="0", addresses=("0000:41:00.0",)), 7.0),
        (Visible(variable="1", addresses=("0000:01:00.0",)), 1.0),
        # Both, read in turns: 1 and 2, then 3 and 4. Each moved on by two steps: 2 + 14 joules.
        (None, 16.0),
    ],
)
def test_energy_is_counted_on_the_cards_in_use(usable: Visible | None, joules: float) -> None:
    # A reading adds 1 J to the first card and 7 J to the other.
    counter = NvmlCounter(FakeNvml(1000, 7000, ids=(SLOW, FAST)), usable)

    before, after = counter.read(), counter.read()

    assert before is not None
    assert after is not None
    assert counter.joules(before, after) == joules


def test_without_the_variable_nobody_asks_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    assert nvidia.visible() == Visible()
