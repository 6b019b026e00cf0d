"""Fingerprint a submission's times, to recognise a copy even if everything else is changed."""

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from estimates.flags.observation import bounds
from pipeline.collection.plausibility import scatter
from pipeline.collection.plausibility.scatter import ScatterIndex, scatter_of
from schemas.submission import Trial

# Times with fewer digits coincide by chance; a time without its prompt needs more digits.
DIGITS, DIGITS_ALONE = 5, 7
RATIOS_IN_A_ROW = 3
_RATIO_STEP = 1e-5
# The maximum number of submissions in which a mark is looked up; this is enough to find a partner
# for each copy.
_FOLLOWED = 20
_COPIED = bounds("copied-times")
KINDS = ("times", "ratios")
# Sorted digests for each of the `KINDS`, and the patterns of `scatter`.
Marks: TypeAlias = dict[str, NDArray[np.uint32]]
Index: TypeAlias = "MarkIndex | ScatterIndex"


def marks_of(trials: Sequence[Trial]) -> Marks:
    """The marks of a submission's trials: its times, its runs of time ratios, its scatter.

    The same trials have the same marks.
    """
    exact = [
        (each, ms, count)
        for each in sorted(trials, key=attrgetter("order"))
        if (ms := each.decode_ms) and (count := digits(ms)) >= DIGITS
    ]
    times = (f"{ms!r}" if n >= DIGITS_ALONE else f"{each.prompt} {ms!r}" for each, ms, n in exact)
    digests = {"times": _digests(times), "ratios": _digests(_ratio_marks(exact))}
    return digests | scatter_of(trials)


def indices(marks: Sequence[Marks], *, fewest: int = 1) -> dict[str, Index]:
    """The index of the marks of several submissions, for each kind of mark.

    Marks of fewer submissions than `fewest` are left out.
    """
    exact: dict[str, Index] = {k: MarkIndex.of([each[k] for each in marks], fewest) for k in KINDS}
    return exact | {k: ScatterIndex.of([each[k] for each in marks]) for k in scatter.KINDS}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkIndex:
    """The marks of one kind in a corpus, sorted, each with the position of its submission.

    `totals` are the numbers of marks of the submissions.
    """

    digests: NDArray[np.uint32]
    owners: NDArray[np.int64]
    totals: tuple[int, ...]

    @classmethod
    def of(cls, marks: Sequence[NDArray[np.uint32]], fewest: int = 1) -> Self:
        digests = np.concatenate([np.empty(0, np.uint32), *marks])
        totals = tuple(map(len, marks))
        owners = np.repeat(np.arange(len(marks)), totals)
        order = np.argsort(digests, kind="stable")
        _, counts = np.unique(digests, return_counts=True)
        order = order[np.repeat(counts, counts) >= fewest]
        return cls(digests=digests[order], owners=owners[order], totals=totals)

    def copies(self, own: NDArray[np.uint32]) -> Iterator[tuple[int, int, int]]:
        """The submissions that have more marks in common with `own` than chance explains.

        Yields each one's position, the number of common marks, and the number of marks of the
        submission that has fewer.
        """
        first = np.searchsorted(self.digests, own, "left")
        last = np.searchsorted(self.digests, own, "right")
        followed = np.minimum(last - first, _FOLLOWED)
        if not followed.any():
            return
        at = np.arange(followed.sum()) + np.repeat(first - np.cumsum(followed) + followed, followed)
        owners, counts = np.unique(self.owners[at], return_counts=True)
        for position, shared in zip(owners.tolist(), counts.tolist(), strict=True):
            total = min(len(own), self.totals[position])
            if shared >= max(_COPIED["fewest"], _COPIED["share"] * total):
                yield position, shared, total
