"""Which submissions of the corpus could a new one be a copy of?

Two indices, both fast enough for ten thousand files. Marks lie in one sorted table of digests
(w-shingling: Broder 1997, On the resemblance and containment of documents). Noise lies in
one matrix of sketches: each vector is folded into a fixed length with random signs, which keeps
inner products (feature hashing: Weinberger et al. 2009). What a sketch proposes is then computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from pipeline.collection.plausibility.peers import EMPTY, fields, pace
from pipeline.collection.plausibility.traces import trace
from pipeline.collection.plausibility.windows import Windows, owner, window
from schemas.canonical import canonical_bytes, content_digest
from schemas.codec import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from pipeline.collection.plausibility.peers import Field, Pace, Place
    from pipeline.collection.plausibility.traces import Trace
    from pipeline.collection.plausibility.windows import Window
    from schemas.submission import Submission


@dataclass(frozen=True, slots=True)
class Lines:
    """Submissions, where those of each contributor stand, and the digests that were needed.

    Digests are dear: they are made for a contributor who replaces something, then kept.
    """

    submissions: Sequence[Submission]
    by_contributor: Mapping[str, Sequence[int]]
    digests: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, submissions: Sequence[Submission]) -> Lines:
        """The lines of a corpus; handles are the same in any case of their letters."""
        found: dict[str, list[int]] = {}
        for position, each in enumerate(submissions):
            if each.contributor is not None:
                found.setdefault(each.contributor.lower(), []).append(position)
        return cls(submissions, found)

    def replaced_by(self, submission: Submission) -> frozenset[int]:
        """What a submission supersedes, what that one supersedes, and so on."""
        found: set[int] = set()
        position = self._named(submission)
        while position is not None and position not in found:
            found.add(position)
            position = self._named(self.submissions[position])
        return frozenset(found)

    def _named(self, submission: Submission) -> int | None:
        """The submission of the same contributor whose file is named as superseded."""
        if submission.supersedes is None or submission.contributor is None:
            return None
        author = submission.contributor.lower()
        if author not in self.digests:
            own = self.by_contributor.get(author, ())
            self.digests[author] = {_digest(self.submissions[at]): at for at in own}
        ending = submission.supersedes.removesuffix(".json").rpartition("-")[2]
        return self.digests[author].get(ending)


def _digest(submission: Submission) -> str:
    return content_digest(canonical_bytes(encode(submission)))


SKETCH_LENGTH = 512
FEWEST_FREE = 10
# Chance that honest noise is called a copy, over the whole corpus that one file is compared with.
FALSE_ALARM = 1e-5
# Of independent vectors a product of sketches has a standard deviation of 0.044. A copied part has
# a smaller product than correlation.
_PROPOSED, _PART = 0.25, 0.6
_AT_ONCE = 256
# A mark that many share is followed to so many of them: enough to find each one a partner.
_FOLLOWED = 20
_MULTIPLIER = np.uint32(2_654_435_761)  # Knuth's multiplicative hash, 2^32 over the golden ratio


@dataclass(frozen=True)
class Corpus:
    """Submissions with an index of their traces. Made once, asked often."""

    submissions: tuple[Submission, ...]

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        return tuple(trace(each) for each in self.submissions)

    @cached_property
    def times(self) -> Marks:
        return Marks.of([each.times for each in self.traces])

    @cached_property
    def ratios(self) -> Marks:
        return Marks.of([each.ratios for each in self.traces])

    @cached_property
    def sketches(self) -> NDArray[np.float32]:
        rows = [sketch(each) for each in self.traces]
        return np.stack(rows) if rows else np.empty((0, SKETCH_LENGTH), np.float32)

    @cached_property
    def windows(self) -> dict[tuple[str | None, ...], Windows]:
        """Contributor and machine to when it measured which submission."""
        found: dict[tuple[str | None, ...], list[Window]] = {}
        for position, each in enumerate(self.submissions):
            found.setdefault(owner(each), []).append(window(each, position))
        return {known: Windows.of(each) for known, each in found.items()}

    @cached_property
    def paces(self) -> tuple[Pace | None, ...]:
        return tuple(pace(each) for each in self.submissions)

    def field(self, place: Place) -> Field:
        """What was measured on a device with a target, or with any."""
        return self._fields.get(place, EMPTY)

    @cached_property
    def _fields(self) -> dict[Place, Field]:
        return fields(self.paces)

    @cached_property
    def lines(self) -> Lines:
        return Lines.of(self.submissions)

    def alike(self, traces: Sequence[Trace]) -> Iterator[tuple[int, ...]]:
        """For each trace the submissions whose noise may be the same, by their position."""
        for start in range(0, len(traces), _AT_ONCE):
            some = traces[start : start + _AT_ONCE]
            products = np.stack([sketch(each) for each in some]) @ self.sketches.T
            for each, row in zip(some, products, strict=True):
                limit = max(_PROPOSED, _PART * surprising(each.free, len(self.submissions)))
                yield tuple(int(position) for position in np.nonzero(row >= limit)[0])


@dataclass(frozen=True)
class Marks:
    """All marks of a corpus in order, each with the position of the submission that has it."""

    digests: NDArray[np.uint32]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, marks: Sequence[NDArray[np.uint32]]) -> Marks:
        digests = np.concatenate([np.empty(0, np.uint32), *marks])
        owners = np.repeat(np.arange(len(marks)), [len(each) for each in marks])
        order = np.argsort(digests, kind="stable")
        return cls(digests=digests[order], owners=owners[order])

    def shared(self, own: NDArray[np.uint32]) -> dict[int, int]:
        """How many of these marks each submission has, for those that have any."""
        first = np.searchsorted(self.digests, own, "left")
        last = np.searchsorted(self.digests, own, "right")
        found = [
            self.owners[start:end][:_FOLLOWED]
            for start, end in zip(first, last, strict=True)
            if start < end
        ]
        if not found:
            return {}
        owners, counts = np.unique(np.concatenate(found), return_counts=True)
        return dict(zip(owners.tolist(), counts.tolist(), strict=True))


def surprising(free: float, comparisons: int) -> float:
    """The correlation of so many free values that no chance brings about in so many comparisons.

    Fisher's transformation of Pearson's correlation; one comparison's share of the false alarms
    (Bonferroni).
    """
    if free < FEWEST_FREE:
        return 1.0
    score = NormalDist().inv_cdf(1 - FALSE_ALARM / max(1, comparisons))
    return math.tanh(score / math.sqrt(free - 3))


def sketch(of: Trace) -> NDArray[np.float32]:
    """The noise folded into a fixed length: each key has a place and a sign of its own."""
    mixed = of.keys * _MULTIPLIER
    signs = np.where(mixed & np.uint32(1 << 31), 1.0, -1.0)
    places = (mixed >> np.uint32(8)) % np.uint32(SKETCH_LENGTH)
    folded = np.bincount(places, of.noise * signs, SKETCH_LENGTH)
    return folded.astype(np.float32)
