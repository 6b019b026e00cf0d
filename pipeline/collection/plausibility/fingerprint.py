"""Fingerprint a submission's times, to recognise a copy even if everything else is changed."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from estimates.flags.observation import bounds
from pipeline.collection.plausibility import scatter
from pipeline.collection.plausibility.scatter import ScatterIndex, scatter_of
from schemas.submission import Trial

# Times with fewer digits coincide by chance; a time without its prompt needs more digits.
DIGITS, DIGITS_ALONE = 5, 7
# The maximum number of submissions in which a mark is looked up; this is enough to find a partner
# for each copy.
_FOLLOWED = 20
_COPIED = bounds("copied-times")
# The sorted digests of `times`, and the patterns of `scatter`.
Marks: TypeAlias = dict[str, NDArray[np.uint32]]
Index: TypeAlias = "MarkIndex | ScatterIndex"


def marks_of(trials: Sequence[Trial]) -> Marks:
    """The marks of a submission's trials: its times and its scatter.

    The same trials have the same marks.
    """
    times = (
        f"{ms!r}" if count >= DIGITS_ALONE else f"{each.prompt} {ms!r}"
        for each in trials
        if (ms := each.decode_ms) and (count := digits(ms)) >= DIGITS
    )
    return {"times": _digests(times)} | scatter_of(trials)


def indices(marks: Sequence[Marks], *, fewest: int = 1) -> dict[str, Index]:
    """The index of the marks of several submissions, for each kind of mark.

    Marks of fewer submissions than `fewest` are left out.
    """
    times = MarkIndex.of([each["times"] for each in marks], fewest)
    rest = {kind: ScatterIndex.of([each[kind] for each in marks]) for kind in scatter.KINDS}
    return {"times": times, **rest}


def digits(value: float) -> int:
    """The number of significant digits in a figure as written."""
    mantissa = repr(value).partition("e")[0]
    return len(mantissa.replace(".", "").strip("0"))


def _digests(marks: Iterator[str]) -> NDArray[np.uint32]:
    return np.unique(np.fromiter((zlib.crc32(mark.encode()) for mark in marks), np.uint32))


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkIndex:
    """The marks of times in a corpus, sorted, each with the position of its submission.

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
