"""How fast the baselines of a corpus are, by device and target."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Self, TypeAlias, overload

from estimates.identity import Identity
from estimates.pairing import ms_per_token
from estimates.roofline import bytes_per_token
from schemas.submission import Submission

# A device with its backend, and a target or any.
Place: TypeAlias = tuple[str, str, tuple[str, str] | None]


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
    """How far the farthest of so many nearest values is: they are neighbours."""
    first = bisect_left(
        range(len(ordered) - count),
        True,  # noqa: FBT003 - what the key is searched for
        key=lambda start: center - ordered[start] <= ordered[start + count] - center,
    )
    return max(center - ordered[first], ordered[first + count - 1] - center)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast the baseline of a submission is, where, and whose it is."""

    device: tuple[str, str]
    target: tuple[str, str]
    voter: str
    tps: float
    bytes_per_s: float | None


def pace(submission: Submission, named: Identity) -> Pace | None:
    """The pace of a submission; `None` where no baseline trial finished."""
    baselines = {arm.id for arm in submission.arms if arm.role == "baseline"}
    timed = (ms_per_token(each) for each in submission.trials if each.arm in baselines)
    times = [ms for ms in timed if ms]
    if not times:
        return None
    tps = 1000 / median(times)
    used = bytes_per_token(submission.target)
    return Pace(
        device=(named.device, submission.engine.backend_label),
        target=(named.target, named.quantisation),
        voter=named.voter,
        tps=tps,
        bytes_per_s=None if used is None else used * tps,
    )


@dataclass(frozen=True, slots=True)
class Field:
    """What each voter measured: the logarithm of the median of theirs, and all of them in order."""

    by_voter: Mapping[str, float]
    ordered: Sequence[float]

    @classmethod
    def of(cls, values: Mapping[str, Sequence[float]]) -> Self:
        """The field of all values of each voter."""
        by_voter = {voter: math.log(median(own)) for voter, own in values.items()}
        return cls(by_voter, sorted(by_voter.values()))

    def others(self, voter: str) -> Sequence[float]:
        """What all but this one measured, in order."""
        own = self.by_voter.get(voter)
        return self.ordered if own is None else without(self.ordered, own)


EMPTY = Field({}, ())


def fields(paces: Iterable[Pace | None]) -> dict[Place, Field]:
    """The fields of all devices: with each target in tokens/s, with any target in bytes/s."""
    found: dict[Place, dict[str, list[float]]] = {}
    for each in paces:
        if each is None:
            continue
        place = found.setdefault((*each.device, each.target), {})
        place.setdefault(each.voter, []).append(each.tps)
        if each.bytes_per_s is not None:
            anywhere = found.setdefault((*each.device, None), {})
            anywhere.setdefault(each.voter, []).append(each.bytes_per_s)
    return {place: Field.of(values) for place, values in found.items()}


# What every file of a model says alike, where it says it.
SHAPE = ("architecture", "layers", "vocabulary_size")
Shape: TypeAlias = tuple[str | int | None, ...]


def shape(submission: Submission) -> Shape:
    """What a target is built like, whoever quantised it."""
    return tuple(getattr(submission.target, fact) for fact in SHAPE)
