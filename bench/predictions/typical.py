"""Compute the medians that ship: by kind of method, and by kind of method and card.

People of one source together have at most three voices, and each person has one in each median,
however many figures the person published.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from bench.predictions.rows import Seen
from estimates.voices import weights
from planner.estimate import ALL, Median, Typical

Key = TypeVar("Key")


def typical_of(rows: Sequence[Seen], digest: str = "") -> Typical:
    """The medians over these rows, without reach and accuracy."""
    truths = [(row, row.truth) for row in rows]
    every = medians(truths, lambda _: ALL)[ALL][0]
    return Typical(
        digest=digest,
        every=round(math.exp(every), 3),
        kinds=_table(medians(truths, lambda row: row.case.kind), least=0.0),
        cards=_table(medians(truths, lambda row: row.case.kind_here), least=1.0),
        reach={ALL: math.nan},
    )


def _table(found: Mapping[str, tuple[float, float]], *, least: float) -> dict[str, Median]:
    return {
        name: Median(speedup=round(math.exp(middle), 3), people=round(people, 1))
        for name, (middle, people) in sorted(found.items())
        if people >= least
    }


def medians(
    rows: Iterable[tuple[Seen, float]], key: Callable[[Seen], Key]
) -> Mapping[Key, tuple[float, float]]:
    """The median over people of the values of each key, and the number of voices behind it."""
    each: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    source = {}
    for row, value in rows:
        each[key(row)][row.person].append(value)
        source[row.person] = row.source
    return {name: _median(own, source) for name, own in each.items()}


def _median(own: Mapping[str, Sequence[float]], source: Mapping[str, str]) -> tuple[float, float]:
    """The median over people, each with one voice or a share of their source's three."""
    voices = weights({person: source[person] for person in own})
    total, reached = sum(voices.values()), 0.0
    for middle, person in sorted((statistics.median(own[person]), person) for person in own):
        reached += voices[person]
        if reached >= total / 2:
            return middle, total
    raise ValueError("there are no people")
