"""The submissions that a new one is compared with, and the indices that make it quick.

Two find copies among ten thousand files. Marks lie in one sorted table of digests (w-shingling:
Broder 1997, On the resemblance and containment of documents). Noise lies in one matrix of sketches:
each vector is folded into a fixed length with random signs, which keeps inner products (feature
hashing: Weinberger et al. 2009). What a sketch proposes is then computed.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import NDArray

from estimates.identity import Identity, identify
from pipeline.collection.plausibility import peers
from pipeline.collection.plausibility.traces import SKETCH_LENGTH, Trace, sketch, trace
from schemas.codec import content_digest
from schemas.migrations import forms
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


FEWEST_FREE = 10
# Chance that honest noise is called a copy, over the whole corpus that one file is compared with.
FALSE_ALARM = 1e-5
# Of independent vectors a product of sketches has a standard deviation of 0.044. A copied part has
# a smaller product than correlation.
_PROPOSED, _PART = 0.25, 0.6
_AT_ONCE = 256
# A mark that many share is followed to so many of them: enough to find each one a partner.
_FOLLOWED = 20


@dataclass(frozen=True, slots=True)
class Lines:
    """Submissions, the positions of each contributor's, and the digests that were needed.

    Digests are expensive: they are computed only for contributors who replace something.
    """

    submissions: Sequence[Submission]
    by_contributor: Mapping[str, Sequence[int]]
    known: Sequence[str]
    digests: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, submissions: Sequence[Submission], known: Sequence[str] = ()) -> Self:
        """The lines of a corpus; handles are the same in any case of their letters."""
        found: dict[str, list[int]] = {}
        for position, each in enumerate(submissions):
            if each.contributor is not None:
                found.setdefault(each.contributor.lower(), []).append(position)
        return cls(submissions, found, known)

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
            self.digests[author] = {digest: at for at in own for digest in self._digests(at)}
        ending = submission.supersedes.removesuffix(".json").rpartition("-")[2]
        return self.digests[author].get(ending)

    def _digests(self, at: int) -> Iterable[str]:
        """That of the file, where it is known, else those of the forms that it may have had."""
        return [self.known[at]] if self.known else map(content_digest, forms(self.submissions[at]))


@dataclass(frozen=True)
class Marks:
    """All marks of a corpus in order, with who has each; `common` are those that several have."""

    digests: NDArray[np.uint32]
    owners: NDArray[np.int64]
    common: NDArray[np.uint32]

    @classmethod
    def of(cls, marks: Sequence[NDArray[np.uint32]]) -> Self:
        digests = np.concatenate([np.empty(0, np.uint32), *marks])
        owners = np.repeat(np.arange(len(marks)), [len(each) for each in marks])
        order = np.argsort(digests, kind="stable")
        digests, owners = digests[order], owners[order]
        again = (digests[1:] == digests[:-1]) & (owners[1:] != owners[:-1])
        return cls(digests=digests, owners=owners, common=np.unique(digests[1:][again]))

    def shared(self, own: NDArray[np.uint32], *, within: bool) -> dict[int, int]:
        """How many of these marks each has; of one `within` the corpus only what it shares."""
        if within:  # twice as fast as `np.isin`, which sorts both
            after = np.searchsorted(self.common, own, "right")
            own = own[after > np.searchsorted(self.common, own)]
        if not len(own):
            return {}
        first = np.searchsorted(self.digests, own, "left")
        last = np.searchsorted(self.digests, own, "right")
        followed = np.minimum(last - first, _FOLLOWED)
        at = np.arange(followed.sum()) + np.repeat(first - np.cumsum(followed) + followed, followed)
        owners, counts = np.unique(self.owners[at], return_counts=True)
        return dict(zip(owners.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """What a comparison needs of one submission's trials; `digest` is that of its file."""

    digest: str
    identity: Identity
    trace: Trace
    pace: peers.Pace | None


@dataclass(frozen=True)
class Corpus:
    """Submissions with the indices that the checks ask.

    With `prints`, one for each, the submissions need no trials.
    """

    submissions: tuple[Submission, ...]
    prints: tuple[Print, ...] = ()

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        known = tuple(each.trace for each in self.prints)
        return known or tuple(trace(each) for each in self.submissions)

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
    def identities(self) -> tuple[Identity, ...]:
        known = tuple(each.identity for each in self.prints)
        return known or tuple(identify(each) for each in self.submissions)

    @cached_property
    def shapes(self) -> dict[str, dict[peers.Shape, dict[str, int]]]:
        """By target and shape: each voter with the position of their first submission."""
        found: dict[str, dict[peers.Shape, dict[str, int]]] = {}
        for position, (each, named) in enumerate(
            zip(self.submissions, self.identities, strict=True)
        ):
            voters = found.setdefault(named.target, {}).setdefault(peers.shape(each), {})
            voters.setdefault(named.voter, position)
        return found

    @cached_property
    def windows(self) -> dict[str, Windows]:
        """Voter to when which submission was measured."""
        found: dict[str, list[Window]] = {}
        for position, (each, named) in enumerate(
            zip(self.submissions, self.identities, strict=True)
        ):
            found.setdefault(named.voter, []).append(window(each, position))
        return {voter: Windows.of(each) for voter, each in found.items()}

    @cached_property
    def paces(self) -> tuple[peers.Pace | None, ...]:
        known = tuple(each.pace for each in self.prints)
        return known or tuple(map(peers.pace, self.submissions, self.identities))

    def field(self, place: peers.Place) -> peers.Field:
        """What was measured on a device with a target, or with any."""
        return self._fields.get(place, peers.EMPTY)

    @cached_property
    def _fields(self) -> dict[peers.Place, peers.Field]:
        return peers.fields(self.paces)

    @cached_property
    def lines(self) -> Lines:
        return Lines.of(self.submissions, [each.digest for each in self.prints])

    def alike(self, traces: Sequence[Trace]) -> Iterator[tuple[int, ...]]:
        """For each trace the submissions whose noise may be the same, by their position."""
        for start in range(0, len(traces), _AT_ONCE):
            some = traces[start : start + _AT_ONCE]
            products = np.stack([sketch(each) for each in some]) @ self.sketches.T
            for each, row in zip(some, products, strict=True):
                limit = max(_PROPOSED, _PART * surprising(each.free, len(self.submissions)))
                yield tuple(int(position) for position in np.nonzero(row >= limit)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A submission compared with a corpus; `itself` is its own position there, if it has one.

    `alike` are the positions of those whose noise may be the same.
    """

    submission: Submission
    identity: Identity
    trace: Trace
    pace: peers.Pace | None
    corpus: Corpus
    alike: tuple[int, ...]
    itself: int | None

    def is_apart(self, position: int) -> bool:
        """Whether it is neither this submission nor one that this one corrects, or the reverse."""
        if position == self.itself:
            return False
        lines = self.corpus.lines
        if position in lines.replaced_by(self.submission):
            return False
        return self.itself not in lines.replaced_by(self.corpus.submissions[position])

    def name_of(self, position: int) -> str:
        """How a message names another submission: where and when it was measured, and by whom."""
        other, named = self.corpus.submissions[position], self.corpus.identities[position]
        return (
            f"{other.target.name} {other.target.quantisation} on {named.device_label} "
            f"({other.contributor or 'anonymous'}, {other.measured_from[:10]})"
        )


def surprising(free: float, comparisons: int) -> float:
    """The correlation of so many free values that no chance brings about in so many comparisons.

    Fisher's transformation of Pearson's correlation; one comparison's share of the false alarms
    (Bonferroni).
    """
    if free < FEWEST_FREE:
        return 1.0
    score = NormalDist().inv_cdf(1 - FALSE_ALARM / max(1, comparisons))
    return math.tanh(score / math.sqrt(free - 3))
