"""When each machine of each contributor measured."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Self

from schemas.submission import Submission

# Times are whole seconds; one campaign may start in the second in which another one ends.
_TOUCH = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From when to when the submission at `position` was measured."""

    start: datetime
    end: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows in the order of their starts; `latest` is the last end so far."""

    by_start: Sequence[Window]
    latest: Sequence[datetime]

    @classmethod
    def of(cls, windows: Iterable[Window]) -> Self:
        by_start = sorted(windows, key=lambda each: (each.start, each.position))
        return cls(by_start, list(accumulate((each.end for each in by_start), max)))

    def overlapping(self, own: Window) -> Iterator[Window]:
        """Those that share more than a touch with this one, latest start first."""
        until = bisect_left(self.by_start, own.end, key=lambda each: each.start)
        for at in range(until - 1, -1, -1):
            if self.latest[at] <= own.start:
                return
            if overlap(own, self.by_start[at]) > _TOUCH:
                yield self.by_start[at]


def window(submission: Submission, position: int) -> Window:
    """The window of a submission that stands at a position."""
    start, end = submission.measured_from, submission.measured_until
    return Window(start=_moment(start), end=_moment(end), position=position)


def overlap(own: Window, other: Window) -> timedelta:
    return min(own.end, other.end) - max(own.start, other.start)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
