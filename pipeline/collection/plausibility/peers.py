"""Is the plain speed of a submission far from that of the nearest rigs?

Nearest is the same device with the same backend and the same target. Where too few have measured
that, any target counts, and what is compared is the bytes of weights that are read per second.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, overload

from estimates.model import Flag
from estimates.pairing import ms_per_token
from estimates.roofline import bytes_per_token
from pipeline.collection.plausibility.question import device_name
from pipeline.collection.plausibility.windows import owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipeline.collection.plausibility.question import Question
    from schemas.submission import Submission


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


if TYPE_CHECKING:
    # A device with its backend, and a target or any.
    Place = tuple[str, str, tuple[str, str] | None]

FEWEST_PEERS = 4
# Iglewicz and Hoaglin (1993), How to detect and handle outliers: 0.6745 (x - median) / MAD
# beyond 3.5. Few peers may agree by chance, so that less than a factor of 1.5 is never far.
FAR_SCORE, FAR_FACTOR = 3.5, 1.5
_MAD_TO_SIGMA = 1.4826
_LEAST_SPREAD = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast the baseline of a submission is, where, and whose it is."""

    device: tuple[str, str]
    target: tuple[str, str]
    voter: tuple[str | None, ...]
    tps: float
    bytes_per_s: float | None


def pace(submission: Submission) -> Pace | None:
    """The pace of a submission; `None` where no baseline trial finished."""
    baselines = {arm.id for arm in submission.arms if arm.role == "baseline"}
    timed = (ms_per_token(each) for each in submission.trials if each.arm in baselines)
    times = [ms for ms in timed if ms]
    if not times:
        return None
    tps = 1000 / median(times)
    used = bytes_per_token(submission.target)
    return Pace(
        device=(_plain(device_name(submission)), submission.engine.backend),
        target=(_plain(submission.target.name), submission.target.quantisation.lower()),
        voter=owner(submission),
        tps=tps,
        bytes_per_s=None if used is None else used * tps,
    )


@dataclass(frozen=True, slots=True)
class Field:
    """What each voter measured: the logarithm of the median of theirs, and all of them in order."""

    by_voter: Mapping[tuple[str | None, ...], float]
    ordered: Sequence[float]

    @classmethod
    def of(cls, values: Mapping[tuple[str | None, ...], Sequence[float]]) -> Field:
        """The field of all values of each voter."""
        by_voter = {voter: math.log(median(own)) for voter, own in values.items()}
        return cls(by_voter, sorted(by_voter.values()))

    def others(self, voter: tuple[str | None, ...]) -> Sequence[float]:
        """What all but this one measured, in order."""
        own = self.by_voter.get(voter)
        return self.ordered if own is None else without(self.ordered, own)


EMPTY = Field({}, ())


def fields(paces: Iterable[Pace | None]) -> dict[Place, Field]:
    """The fields of all devices: with each target in tokens/s, with any target in bytes/s."""
    found: dict[Place, dict[tuple[str | None, ...], list[float]]] = {}
    for each in paces:
        if each is None:
            continue
        place = found.setdefault((*each.device, each.target), {})
        place.setdefault(each.voter, []).append(each.tps)
        if each.bytes_per_s is not None:
            anywhere = found.setdefault((*each.device, None), {})
            anywhere.setdefault(each.voter, []).append(each.bytes_per_s)
    return {place: Field.of(values) for place, values in found.items()}


def far_from_peers(question: Question) -> Flag | None:
    """The baseline is far from what others measured on the same device."""
    own = question.pace
    if own is None:
        return None
    same = question.corpus.field((*own.device, own.target)).others(own.voter)
    if len(same) >= FEWEST_PEERS:
        return _flag(own.tps, same, f"{own.tps:.1f} tokens/s", "with this target")
    if own.bytes_per_s is None:
        return None
    read = question.corpus.field((*own.device, None)).others(own.voter)
    if len(read) < FEWEST_PEERS:
        return None
    return _flag(own.bytes_per_s, read, f"{own.bytes_per_s / 1e9:.0f} GB/s", "with any target")


def _flag(value: float, peers: Sequence[float], told: str, scope: str) -> Flag | None:
    """`peers` are logarithms, in order."""
    center = middle(peers)
    spread = _MAD_TO_SIGMA * middle_distance(peers, center)
    distance = math.log(value) - center
    score = distance / max(spread, _LEAST_SPREAD)
    if abs(score) <= FAR_SCORE or abs(distance) <= math.log(FAR_FACTOR):
        return None
    factor, word = (math.exp(abs(distance)), "faster" if distance > 0 else "slower")
    return Flag(
        name="far-from-peers",
        severity="caution",
        message=(
            f"The baseline reaches {told}, {factor:.1f} times {word} than the middle of "
            f"{len(peers)} others on this device {scope}."
        ),
        remedy="Check device, backend, offloaded layers and power limit; a note may explain it.",
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
