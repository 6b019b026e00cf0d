"""A campaign stops when its time is over."""

import pytest

from harness.campaign.model import Stopping
from harness.run.stopping import fits_budget


@pytest.mark.parametrize(
    ("blocks", "spent_s", "fits"),
    [
        (0, 500.0, True),  # the first block is always run
        (1, 51.0, False),
        (3, 75.0, True),  # the fourth would end at 100 s
        (3, 75.3, False),  # the fourth would end at 100.4 s
    ],
)
def test_no_block_begins_that_would_end_too_late(
    blocks: int,
    spent_s: float,
    fits: bool,  # noqa: FBT001 - a table's column
) -> None:
    assert fits_budget(Stopping(budget_s=100.0), blocks=blocks, spent_s=spent_s) == fits
    assert fits_budget(Stopping(), blocks=blocks, spent_s=spent_s)
