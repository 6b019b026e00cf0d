"""Is the campaign long enough? Asked between two blocks, answered from values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from harness.model import Stopping

Early = Literal["precise-enough", "budget-spent"]
Ended = Literal["completed", "precise-enough", "budget-spent", "interrupted"]


def decide(
    rule: Stopping, *, blocks: int, half_width: float | None, spent_s: float
) -> Early | None:
    """Why no further block is run after so many; `None` if there is no reason to stop.

    `half_width` is that of the interval over blocks, as a share of the ratio. The next block is
    expected to take as long as the ones before on average; one that would end after the budget does
    not begin. The first always does: without it there would be no result at all.
    """
    if blocks == 0:
        return None
    narrow = rule.precision is not None and half_width is not None and half_width <= rule.precision
    if narrow and blocks >= rule.least_blocks:
        return "precise-enough"
    next_ends_s = spent_s * (blocks + 1) / blocks
    if rule.budget_s is not None and next_ends_s > rule.budget_s:
        return "budget-spent"
    return None
