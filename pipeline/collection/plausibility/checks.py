"""What the corpus shows about a submission that the submission cannot show about itself.

One function per flag. Copies: the times are those of another submission, as they are, scaled, or
with noise added. Windows: one machine measured twice at the same time. Peers: the plain speed is
far from what others measured on the same device, backend and target; where too few have measured
that, any target counts, and the bytes of weights read per second are compared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from estimates.model import Flag, Severity
from pipeline.collection.plausibility.corpus import Marks, Question, overlap, surprising, window
from pipeline.collection.plausibility.peers import (
    SHAPE,
    Shape,
    middle,
    middle_distance,
    shape,
)
from pipeline.collection.plausibility.traces import Trace

# Marks in common, and their share in the smaller submission's: far above chance, below any copy.
FEWEST_SHARED, SHARE_SHARED = 8, 0.2
# Habits of machines that no mean takes out may go together a little.
LEAST_CORRELATION = 0.4
FEWEST_PEERS = 4
# Iglewicz and Hoaglin (1993), How to detect and handle outliers: 0.6745 (x - median) / MAD
# beyond 3.5. Few peers may agree by chance, so that less than a factor of 1.5 is never far.
FAR_SCORE, FAR_FACTOR = 3.5, 1.5
_MAD_TO_SIGMA = 1.4826
_LEAST_SPREAD = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The submission at `position` has `shared` of these `total` marks."""

    kind: Literal["times", "ratios"]
    position: int
    shared: int
    total: int


def copied_times(question: Question) -> Flag | None:
    """Times with many digits, or the ratios of times in a row, stand in another submission too."""
    found = shared_marks(question)
    if found is None:
        return None
    counts, other = f"{found.shared} of {found.total}", question.name_of(found.position)
    return Flag(
        name="copied-times",
        severity=_severity(question, found.position),
        message=(
            f"{counts} times are, digit by digit, those of {other}."
            if found.kind == "times"
            else f"The times are those of {other} times a factor: {counts} runs of ratios agree."
        ),
        remedy="No two runs take the same times; a correction names the file that it supersedes.",
    )


def copied_noise(question: Question) -> Flag | None:
    """The noise of the times, what no design explains, goes with that of another submission."""
    best: tuple[float, int, int] | None = None
    for position in question.alike:
        if not question.is_apart(position):
            continue
        compared = correlation(question.trace, question.corpus.traces[position])
        if compared is None:
            continue
        value, trials, free = compared
        if value > max(LEAST_CORRELATION, surprising(free, len(question.corpus.traces))):
            best = max(best or (0.0, 0, 0), (value, trials, position))
    if best is None or shared_marks(question) is not None:
        return None
    value, trials, position = best
    return Flag(
        name="copied-noise",
        severity=_severity(question, position),
        message=(
            f"The noise of {trials} trials follows that of {question.name_of(position)} "
            f"(correlation {value:.2f}), as if its times had been changed a little."
        ),
        remedy="Noise does not repeat itself; measure again, and send what was measured.",
    )


def _severity(question: Question, position: int) -> Severity:
    """Of two with the same times the one that was measured later is the copy."""
    if question.itself is None:
        return "serious"
    own, other = question.submission, question.corpus.submissions[position]
    is_first = (own.measured_from, question.itself) < (other.measured_from, position)
    return "caution" if is_first else "serious"


def shared_marks(question: Question) -> Shared | None:
    """The submission with the most marks in common, if they are far more than chance."""
    corpus, own = question.corpus, question.trace
    tables: tuple[tuple[Literal["times", "ratios"], Marks, NDArray[np.uint32]], ...] = (
        ("times", corpus.times, own.times),
        ("ratios", corpus.ratios, own.ratios),
    )
    for kind, table, marks in tables:
        best: tuple[int, int, int] | None = None
        for position, shared in table.shared(marks, within=question.itself is not None).items():
            total = min(len(marks), len(getattr(corpus.traces[position], kind)))
            enough = shared >= max(FEWEST_SHARED, SHARE_SHARED * total)
            if enough and question.is_apart(position):
                best = max(best or (0, 0, 0), (shared, -position, total))
        if best is not None:
            return Shared(kind=kind, position=-best[1], shared=best[0], total=best[2])
    return None


def correlation(own: Trace, other: Trace) -> tuple[float, int, float] | None:
    """Correlation of two noises over common trials, their number, and how many of it are free."""
    _, here, there = np.intersect1d(own.keys, other.keys, return_indices=True)
    trials = len(here)
    free = trials * (1 - max(own.fitted, other.fitted))
    a, b = own.noise[here], other.noise[there]
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths == 0:
        return None
    return float(a @ b) / lengths, trials, free


def windows_overlap(question: Question) -> Flag | None:
    """Another campaign of the same contributor on the same machine ran within this one's window.

    Anonymous submissions are not compared: two people may own the same laptop.
    """
    own = question.submission
    known = question.corpus.windows.get(question.identity.voter)
    if known is None or own.contributor is None:
        return None
    here = window(own, -1)
    others = [each for each in known.overlapping(here) if question.is_apart(each.position)]
    if not others:
        return None
    first = min(others, key=lambda each: each.position)
    minutes = overlap(here, first).total_seconds() / 60
    return Flag(
        name="windows-overlap",
        severity="caution",
        message=(
            f"For {minutes:.1f} minutes the same machine also measured "
            f"{question.name_of(first.position)}."
        ),
        remedy="Campaigns that run at the same time slow each other down; run them one by one.",
    )


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


def another_model(question: Question) -> Flag | None:
    """What others measured under this target's name was built otherwise: it is not that model.

    Quantisers make many files of one model, so that digests of weights differ among honest results.
    How many layers it has, its vocabulary and its architecture do not.
    """
    own, voter = shape(question.submission), question.identity.voter
    alike, differing = 0, dict[int, str]()
    for other, voters in question.corpus.shapes.get(question.identity.target, {}).items():
        fact = _differing(own, other)
        if fact is not None:
            differing |= {at: fact for name, at in voters.items() if name != voter}
        elif any(each is not None for each in other):
            alike += len(voters) - (voter in voters)
    if alike >= len(differing):
        return None
    position = min(differing)
    fact = differing[position]
    here, there = question.submission.target, question.corpus.submissions[position].target
    return Flag(
        name="another-model",
        severity=_severity(question, position),
        message=(
            f"The target has {fact.replace('_', ' ')} {getattr(here, fact)}, that of "
            f"{question.name_of(position)} has {getattr(there, fact)}: two models of one name."
        ),
        remedy="Give the target the name under which its weights are published.",
    )


def _differing(own: Shape, other: Shape) -> str | None:
    """The first fact that both state and that differs."""
    pairs = zip(SHAPE, own, other, strict=True)
    return next((f for f, a, b in pairs if a is not None and b is not None and a != b), None)


def _flag(value: float, peers: Sequence[float], shown: str, scope: str) -> Flag | None:
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
            f"The baseline reaches {shown}, {factor:.1f} times {word} than the middle of "
            f"{len(peers)} others on this device {scope}."
        ),
        remedy="Check device, backend, offloaded layers and power limit; a note may explain it.",
    )
