"""Predict every row with the shipped estimate from whole other sources, and calibrate its reach."""

import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bench.predictions.measures import Scored, people
from bench.predictions.rows import Seen
from bench.predictions.typical import typical_of
from planner.estimate import ALL, Pull, Typical, pull
from planner.kinds import drafting_class

FOLDS = 10
LEVEL = 0.9  # the share of figures that intervals hold, by people
DRAWN = 8.0  # people of a kind, against all kinds, in the reach of its intervals


class KnownFigures:
    """The figures of each model and kind of method, by place, relative to what is usual."""

    def __init__(self, rows: Iterable[Seen], known: Typical) -> None:
        each: dict[object, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            above = row.truth - known.log_speedup(row.case)
            each[_what(row), row.place][row.person].append(above)
        self._tried = defaultdict(list)
        for (what, place), own in each.items():  # type: ignore[misc]
            middles = [statistics.median(values) for values in own.values()]
            self._tried[what].append((place, float(len(middles)), statistics.median(middles)))

    def pull(self, row: Seen) -> Pull:
        """The pull of the figures of a row's model on its estimate."""
        tried, place = self._tried[_what(row)], row.place
        near = [(n, above) for where, n, above in tried if where == place]
        return pull(near, [(n, above) for where, n, above in tried if where != place])


def predictions(known: Sequence[Seen], asked: Iterable[Seen]) -> Iterator[tuple[Seen, Scored]]:
    """Predict rows from known rows; the `reach` is one standard deviation."""
    typical = typical_of(known)
    figures = KnownFigures(known, typical)
    for row in asked:
        pulled = figures.pull(row)
        middle = typical.log_speedup(row.case) + pulled.shift
        yield (
            row,
            Scored(
                person=row.person,
                truth=row.truth,
                middle=min(middle, math.log(row.depth + 1)),
                reach=pulled.deviation,
                stated=row.stated,
                kind=row.case.kind,
            ),
        )


def left_out(rows: Sequence[Seen]) -> list[Scored]:
    """Predict each row from other sources, with intervals calibrated on yet other sources."""
    folds = deviations(rows)
    return [
        one for fold, own in folds.items() for one in with_reach(own, reaches(other(folds, fold)))
    ]


def deviations(rows: Sequence[Seen]) -> Mapping[int, Sequence[Scored]]:
    """The predictions of each fold from the others; the `reach` is one standard deviation."""
    found = {}
    for fold in range(FOLDS):
        known = [row for row in rows if fold_of(row.source) != fold]
        asked = [row for row in rows if fold_of(row.source) == fold]
        found[fold] = [one for _, one in predictions(known, asked)]
    return found


def other(folds: Mapping[int, Sequence[Scored]], fold: int | None = None) -> list[Scored]:
    """The predictions of all folds but one."""
    return [one for each, own in folds.items() if each != fold for one in own]


def reaches(found: Sequence[Scored], drawn: float = DRAWN) -> dict[str, float]:
    """By kind, the number of deviations that hold nine in ten figures.

    The reach of a kind of n people counts n / (n + `drawn`), against that of all kinds.
    """
    every = reach_of(found)
    kinds = defaultdict(list)
    for one in found:
        kinds[one.kind].append(one)
    return {ALL: round(every, 3)} | {
        kind: round(_drawn(reach_of(own), every, people(own) / drawn), 3)
        for kind, own in sorted(kinds.items())
    }


def with_reach(found: Iterable[Scored], reach: Mapping[str, float]) -> Iterator[Scored]:
    """The predictions with half-widths instead of deviations."""
    for one in found:
        width = reach.get(one.kind, reach[ALL])
        yield replace(one, reach=(one.reach or 0.0) * width)


def fold_of(source: str) -> int:
    """The fold in which a source is left out; it depends only on its name."""
    return int(hashlib.sha256(f"1 {source}".encode()).hexdigest(), 16) % FOLDS


def _drawn(width: float, every: float, weight: float) -> float:
    share = weight / (weight + 1)
    return math.exp(share * math.log(width) + (1 - share) * math.log(every))


def reach_of(found: Sequence[Scored]) -> float:
    """The number of deviations that contains nine in ten figures, by people."""
    rows: dict[str, int] = defaultdict(int)
    for one in found:
        rows[one.person] += 1
    reached = 0.0
    for width, person in sorted((one.off / (one.reach or 1.0), one.person) for one in found):
        reached += 1 / rows[person]
        if reached >= LEVEL * len(rows):
            return width
    raise ValueError("there are no rows")


def _what(row: Seen) -> tuple[str, str]:
    return row.model, drafting_class(row.case.method)
