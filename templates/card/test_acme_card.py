"""The card is read as people write it, with its bandwidth."""

import pytest

from answers.names import card_key
from estimates.roofline import bandwidth_gb_per_s


@pytest.mark.parametrize("name", ["RTX 8888", "rtx8888", "NVIDIA GeForce RTX 8888 16GB"])
def test_the_card_has_the_bandwidth_of_its_bus(name: str) -> None:
    found = card_key(name)

    assert found == "rtx 8888"
    assert bandwidth_gb_per_s(found) == 256 / 8 * 20
