"""Are the times of a submission those of another one, as they are, scaled, or with noise added?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from estimates.model import Flag
from pipeline.collection.plausibility.corpus import surprising

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipeline.collection.plausibility.corpus import Marks
    from pipeline.collection.plausibility.question import Question
    from pipeline.collection.plausibility.traces import Trace


# Marks in common, and their share in the smaller submission's: far above chance, below any copy.
FEWEST_SHARED, SHARE_SHARED = 8, 0.2
# Habits of machines that no mean takes out may go together a little.
LEAST_CORRELATION = 0.4


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
        severity="serious",
        message=(
            f"{counts} times are, digit by digit, those of {other}."
            if found.kind == "times"
            else f"The times are those of {other} times a factor: {counts} runs of ratios agree."
        ),
        remedy="No two runs take the same times; a correction names the file that it supersedes.",
    )


def copied_noise(question: Question) -> Flag | None:
    """The noise of the times, what no design explains, goes with that of another submission."""
    if shared_marks(question) is not None:
        return None
    best: tuple[float, int, int] | None = None
    for position in question.alike:
        compared = correlation(question.trace, question.corpus.traces[position])
        if compared is None or not question.is_apart(position):
            continue
        value, trials, free = compared
        if value > max(LEAST_CORRELATION, surprising(free, len(question.corpus.traces))):
            best = max(best or (0.0, 0, 0), (value, trials, position))
    if best is None:
        return None
    value, trials, position = best
    return Flag(
        name="copied-noise",
        severity="serious",
        message=(
            f"The noise of {trials} trials follows that of {question.name_of(position)} "
            f"(correlation {value:.2f}), as if its times had been changed a little."
        ),
        remedy="Noise does not repeat itself; measure again, and send what was measured.",
    )


def shared_marks(question: Question) -> Shared | None:
    """The submission with the most marks in common, if they are far more than chance."""
    corpus, own = question.corpus, question.trace
    tables: tuple[tuple[Literal["times", "ratios"], Marks, NDArray[np.uint32]], ...] = (
        ("times", corpus.times, own.times),
        ("ratios", corpus.ratios, own.ratios),
    )
    for kind, table, marks in tables:
        best: tuple[int, int, int] | None = None
        for position, shared in table.shared(marks).items():
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
