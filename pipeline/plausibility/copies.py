"""Are the times of a submission those of another one, as they are, scaled, or with noise added?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from estimates.model import Flag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipeline.plausibility.corpus import Marks
    from pipeline.plausibility.question import Question
    from pipeline.plausibility.traces import Trace

# Marks in common, and their share in the smaller submission's: far above chance, below any copy.
FEWEST_SHARED, SHARE_SHARED = 8, 0.2
# Chance that honest noise is called a copy, over the whole corpus that one file is compared with.
FALSE_ALARM = 1e-4
LEAST_CORRELATION = 0.4
_FEWEST_FREE = 10


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
    """The noise of the times, what no design explains, goes with that of another submission.

    Pearson's correlation with Fisher's transformation; the limit is that of a single comparison
    divided by the number of comparisons (Bonferroni).
    """
    if shared_marks(question) is not None:
        return None
    best: tuple[float, int, int] | None = None
    for position in question.alike:
        compared = correlation(question.trace, question.corpus.traces[position])
        if compared is None or not question.is_apart(position):
            continue
        value, trials, chance = compared
        if value >= LEAST_CORRELATION and chance * len(question.corpus.traces) < FALSE_ALARM:
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
    """Correlation of two noises over common trials, their number, and its chance if independent."""
    _, here, there = np.intersect1d(own.keys, other.keys, return_indices=True)
    trials = len(here)
    free = trials * (1 - max(own.fitted, other.fitted))
    if free < _FEWEST_FREE:
        return None
    a, b = own.noise[here], other.noise[there]
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths == 0:
        return None
    value = min(1 - 1e-9, float(a @ b) / lengths)
    chance = 0.5 * math.erfc(math.atanh(value) * math.sqrt(free - 3) / math.sqrt(2))
    return value, trials, chance
