"""Fingerprint a submission's times, to recognise a copy even if everything else is changed."""

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from schemas.submission import Trial

# Times with fewer digits coincide by chance; a time without its prompt needs more digits.
DIGITS, DIGITS_ALONE = 5, 7
RATIOS_IN_A_ROW = 3
_RATIO_STEP = 1e-5


class Timed(Protocol):
    """Anything with the trials of a submission: the submission itself or an extract from it."""

    @property
    def trials(self) -> tuple[Trial, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingFingerprint:
    """Marks of a submission: sorted digests of its times and of its runs of time ratios.

    The same trials have the same fingerprint.
    """

    times: NDArray[np.uint32]
    ratios: NDArray[np.uint32]

    @classmethod
    def of(cls, submission: Timed) -> Self:
        timed = [(each, each.decode_ms) for each in submission.trials if each.decode_ms]
        timed.sort(key=lambda pair: pair[0].order)
        exact = [(each, ms, count) for each, ms in timed if (count := digits(ms)) >= DIGITS]
        times = (
            f"{ms!r}" if n >= DIGITS_ALONE else f"{each.prompt} {ms!r}" for each, ms, n in exact
        )
        return cls(times=_digests(times), ratios=_digests(_ratio_marks(exact)))


def _ratio_marks(exact: Sequence[tuple[Trial, float, int]]) -> Iterator[str]:
    """Yield a mark for each run of consecutive time ratios within an arm.

    A time ratio is a trial's time over that of the arm's previous trial.
    """
    by_arm: dict[str, list[float]] = {}
    for each, ms, _ in exact:
        by_arm.setdefault(each.arm, []).append(math.log(ms))
    for logs in by_arm.values():
        steps = [round((b - a) / _RATIO_STEP) for a, b in itertools.pairwise(logs)]
        for start in range(len(steps) - RATIOS_IN_A_ROW + 1):
            yield repr(steps[start : start + RATIOS_IN_A_ROW])


def digits(value: float) -> int:
    """The number of significant digits in a figure as written."""
    mantissa = repr(value).partition("e")[0]
    return len(mantissa.replace(".", "").strip("0"))


def _digests(marks: Iterator[str]) -> NDArray[np.uint32]:
    return np.unique(np.fromiter((zlib.crc32(mark.encode()) for mark in marks), np.uint32))


# The maximum number of submissions in which a mark is looked up; this is enough to find a partner
# for each copy.
_FOLLOWED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkIndex:
    """All marks in a corpus in sorted order, each with the position of its submission."""

    digests: NDArray[np.uint32]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, marks: Sequence[NDArray[np.uint32]]) -> Self:
        """The index of the marks of several submissions."""
        digests = np.concatenate([np.empty(0, np.uint32), *marks])
        owners = np.repeat(np.arange(len(marks)), [len(each) for each in marks])
        order = np.argsort(digests, kind="stable")
        return cls(digests=digests[order], owners=owners[order])

    def shared(self, own: NDArray[np.uint32]) -> dict[int, int]:
        """By position, the number of marks that a submission has in common with `own`."""
        first = np.searchsorted(self.digests, own, "left")
        last = np.searchsorted(self.digests, own, "right")
        followed = np.minimum(last - first, _FOLLOWED)
        at = np.arange(followed.sum()) + np.repeat(first - np.cumsum(followed) + followed, followed)
        owners, counts = np.unique(self.owners[at], return_counts=True)
        return dict(zip(owners.tolist(), counts.tolist(), strict=True))
