"""What the corpus shows about a submission that it cannot show itself: one function per flag."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from estimates.flags.catalogue import Observation, bounds
from pipeline.collection.plausibility import peers
from pipeline.collection.plausibility.corpus import SHAPE, CorpusComparison
from pipeline.collection.plausibility.fingerprint import MarkIndex
from schemas.vocabulary.flags import Severity

COPIED = bounds("copied-times")
PEERS = bounds("far-from-peers")


def copied_times(candidate: CorpusComparison) -> Observation | None:
    """Times with many digits, or ratios of times in a row, are in another submission too.

    Of several submissions the one with the most marks in common is named.
    """
    for kind in ("times", "ratios"):
        most = max(_shared_marks(candidate, kind), default=None)
        if most is not None:
            shared, position, total = most[0], -most[1], most[2]
            return Observation(
                severity=_severity(candidate, position),
                case=kind,
                counts=f"{shared} of {total}",
                other=candidate.corpus.entries[position].name,
            )
    return None


def _shared_marks(candidate: CorpusComparison, kind: str) -> Iterator[tuple[int, int, int]]:
    """Marks that another submission has, too, its position below zero, and of how many they are.

    Only where they are far more than chance.
    """
    marks = getattr(candidate.own.fingerprint, kind)
    index: MarkIndex = getattr(candidate.corpus, kind)
    for position, shared in index.shared(marks).items():
        others = getattr(candidate.corpus.entries[position].fingerprint, kind)
        total = min(len(marks), len(others))
        enough = shared >= max(COPIED["fewest"], COPIED["share"] * total)
        if enough and candidate.is_apart(position):
            yield shared, -position, total


def _severity(candidate: CorpusComparison, position: int) -> Severity:
    """Of two with the same times the one that was measured later is the copy."""
    if candidate.position is None:
        return "serious"
    own, other = candidate.own.submission, candidate.corpus.entries[position].submission
    is_first = (own.measured_from, candidate.position) < (other.measured_from, position)
    return "caution" if is_first else "serious"


def far_from_peers(candidate: CorpusComparison) -> Observation | None:
    """The baseline is far from what others measured on the same device."""
    own = candidate.own.speed
    if own is None:
        return None
    speeds = candidate.corpus.speeds
    same = speeds.get((*own.device, own.target), peers.NO_PEERS).others(own.voter)
    if len(same) >= PEERS["fewest"]:
        return _if_far(own.tps, same, f"{own.tps:.1f} tokens/s", "with this target")
    if own.bytes_per_s is None:
        return None
    read = speeds.get((*own.device, None), peers.NO_PEERS).others(own.voter)
    if len(read) < PEERS["fewest"]:
        return None
    return _if_far(own.bytes_per_s, read, f"{own.bytes_per_s / 1e9:.0f} GB/s", "with any target")


def _if_far(
    value: float, others: NDArray[np.float64], shown: str, scope: str
) -> Observation | None:
    distance, score = peers.distance(value, others)
    if abs(score) <= PEERS["score"] or abs(distance) <= math.log(PEERS["factor"]):
        return None
    return Observation(
        speed=shown,
        factor=math.exp(abs(distance)),
        direction="faster" if distance > 0 else "slower",
        others=len(others),
        scope=scope,
    )


def another_model(candidate: CorpusComparison) -> Observation | None:
    """Others measured a model of another architecture under this target's name.

    Quantisers make many files of one model, so that digests of weights differ among honest results.
    How many layers it has, its vocabulary and its architecture do not.
    """
    shape, named = candidate.own.shape, candidate.own.identity
    alike, differing = 0, dict[int, str]()
    for other, voters in candidate.corpus.shapes.get(named.target, {}).items():
        # The first fact that both state and that differs.
        stated = zip(SHAPE, shape, other, strict=True)
        fact = next((fact for fact, a, b in stated if None not in (a, b) and a != b), None)
        if fact is not None:
            differing |= {at: fact for name, at in voters.items() if name != named.voter}
        elif any(part is not None for part in other):
            alike += len(voters) - (named.voter in voters)
    if alike >= len(differing):
        return None
    position = min(differing)
    fact, other_entry = differing[position], candidate.corpus.entries[position]
    here, there = candidate.own.submission.target, other_entry.submission.target
    return Observation(
        severity=_severity(candidate, position),
        fact=fact.replace("_", " "),
        own=getattr(here, fact),
        other=other_entry.name,
        others=getattr(there, fact),
    )
