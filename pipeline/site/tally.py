"""Count faster and slower pairs, in the words that every page and chart shares."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from schemas.vocabulary import VERDICTS, say

CLEAR_SHARE = 0.05  # the smallest distance from 1 with a direction, without an interval
USUAL_ROWS = 3  # with fewer rows, there is no usual figure


class Figure(NamedTuple):
    """A pair's figure; `verdict` is `None` without an interval, `backing` is 0 if it counts."""

    speedup: float
    verdict: str | None
    method: str
    backing: int


def direction(speedup: float, verdict: str | None) -> str:
    """Faster, slower or neither: by the verdict, else by the distance of the figure from 1."""
    if verdict:
        return VERDICTS[verdict].tile
    if abs(speedup - 1) < CLEAR_SHARE:
        return "flat"
    return "gain" if speedup > 1 else "loss"


def counting(figures: Sequence[Figure]) -> Sequence[Figure]:
    """The figures that count: those of unknown accounts only if there are no others."""
    return [each for each in figures if each.backing == 0] or figures


def usual(figures: Sequence[Figure]) -> str | None:
    """The median speedup in words; `None` for few figures, or for figures of several methods."""
    figures = counting(figures)
    if len(figures) < USUAL_ROWS or len({each.method for each in figures}) > 1:
        return None
    return f"{median(each.speedup for each in figures):.1f}{say.TIMES}"


def tally(figures: Sequence[Figure], noun: str) -> str:
    """Count faster and slower figures, in words, with the median speedup if they share a method."""
    figures = counting(figures)
    tones = Counter(direction(each.speedup, each.verdict) for each in figures)
    parts = [f"faster on {tones['gain']} of {say.count(len(figures), noun)}"]
    in_all = sum(each.verdict == "slower-in-all" for each in figures)
    if tones["loss"] > in_all:
        parts.append(f"slower on {tones['loss'] - in_all}")
    if in_all:
        parts.append(f"slower overall on {in_all}")
    if middle := usual(figures):
        parts.append(f"median {middle}")
    return ", ".join(parts)


def spread(figures: Sequence[Figure]) -> str:
    """The lowest and the highest speedup of these figures, in words."""
    speedups = [each.speedup for each in counting(figures)]
    return " to ".join(dict.fromkeys(map(say.times, (min(speedups), max(speedups)))))
