"""Where is the middle of many ordered values, and how far are they from it, without one of them?

Each submission is compared with all others: from values that were sorted once, each answer takes a
few steps instead of a walk over all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, slots=True)
class Without(Sequence[float]):
    """Ordered values but the one at `left_out`; nothing is copied."""

    ordered: Sequence[float]
    left_out: int

    def __len__(self) -> int:
        return len(self.ordered) - 1

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[float]: ...
    def __getitem__(self, index: int | slice) -> float | Sequence[float]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        at = index % len(self)
        return self.ordered[at + (at >= self.left_out)]


def without(ordered: Sequence[float], value: float) -> Sequence[float]:
    """Ordered values without one that is among them."""
    return Without(ordered, bisect_left(ordered, value))


def middle(ordered: Sequence[float]) -> float:
    """The median of ordered values."""
    count = len(ordered)
    return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2


def middle_distance(ordered: Sequence[float], center: float) -> float:
    """The median of the distances of ordered values from a center."""
    count = len(ordered)
    lower = _distance_of_nearest(ordered, center, (count - 1) // 2 + 1)
    return (lower + _distance_of_nearest(ordered, center, count // 2 + 1)) / 2


def _distance_of_nearest(ordered: Sequence[float], center: float, count: int) -> float:
    """How far the farthest of so many nearest values is: they stand beside each other."""
    first = bisect_left(
        range(len(ordered) - count),
        True,  # noqa: FBT003 - what the key is searched for
        key=lambda start: center - ordered[start] <= ordered[start + count] - center,
    )
    return max(center - ordered[first], ordered[first + count - 1] - center)
