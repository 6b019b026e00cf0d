"""Was the same machine measured twice at the same time?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from estimates.model import Flag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pipeline.collection.plausibility.question import Question
    from schemas.submission import Submission


# Moments are whole seconds; one campaign may start in the second in which another one ends.
_TOUCH = timedelta(seconds=2)


def windows_overlap(question: Question) -> Flag | None:
    """Another campaign of the same contributor on the same machine ran within this one's window.

    Of anonymous submissions nothing is said: two strangers may own the same laptop.
    """
    own = question.submission
    known = question.corpus.windows.get(owner(own)) if own.contributor is not None else None
    if known is None:
        return None
    here = window(own, -1)
    beside = [each for each in known.beside(here) if question.is_apart(each.position)]
    if not beside:
        return None
    first = min(beside, key=lambda each: each.position)
    minutes = _overlap(here, first).total_seconds() / 60
    return Flag(
        name="windows-overlap",
        severity="caution",
        message=(
            f"For {minutes:.1f} minutes the same machine also measured "
            f"{question.name_of(first.position)}."
        ),
        remedy="Campaigns beside each other slow each other down; run them one by one.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From when to when the submission at `position` was measured."""

    began: datetime
    ended: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows in the order in which they began; `latest` is the last end so far."""

    by_start: Sequence[Window]
    latest: Sequence[datetime]

    @classmethod
    def of(cls, windows: Iterable[Window]) -> Windows:
        by_start = sorted(windows, key=lambda each: (each.began, each.position))
        return cls(by_start, list(accumulate((each.ended for each in by_start), max)))

    def beside(self, own: Window) -> Iterator[Window]:
        """Those that share more than a touch with this one; the rest is hardly looked at."""
        until = bisect_left(self.by_start, own.ended, key=lambda each: each.began)
        for at in range(until - 1, -1, -1):
            if self.latest[at] <= own.began:
                return
            if _overlap(own, self.by_start[at]) > _TOUCH:
                yield self.by_start[at]


def window(submission: Submission, position: int) -> Window:
    """The window of a submission that stands at a position."""
    began, ended = submission.measured_from, submission.measured_until
    return Window(began=_moment(began), ended=_moment(ended), position=position)


def owner(submission: Submission) -> tuple[str | None, ...]:
    """A contributor with a machine, as far as a submission tells machines apart."""
    machine = submission.machine
    cards = [f"{gpu.name} {gpu.vram_mib}" for gpu in machine.gpus]
    family = machine.os.family if machine.os else None
    parts = (family, machine.cpu.name, machine.cpu.logical_cores, machine.ram_mib)
    return (submission.contributor, *map(str, parts), *cards)


def _overlap(own: Window, other: Window) -> timedelta:
    return min(own.ended, other.ended) - max(own.began, other.began)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
