"""Cross-validate over people: predict every row from the rows of other people."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from answers.predict import Coverage, Fitted
from answers.rounds import chance_of_gain
from bench.predictions.fit import PERSON, ROW, SPREADS, Chosen, Design
from bench.predictions.rows import Seen

FOLDS = 20
LEVEL = 0.9
ENOUGH = 15  # the number of people that a kind needs for its own interval
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A row with its prediction; all values are logarithms.

    `constant` is the best constant prediction over the people in the fit. `reach` is the half-width
    of the 90 % interval, computed without the row's fold.
    """

    row: Seen
    middle: float
    deviation: float
    constant: float
    reach: float = math.nan

    @property
    def off(self) -> float:
        return abs(self.middle - self.row.log_speedup)

    def holds(self, share: float = 1.0) -> bool:
        """Whether the interval contains the truth, after multiplying its half-width by `share`."""
        return self.off <= self.reach * share and self.row.log_speedup <= self.row.case.highest

    @property
    def chance(self) -> float:
        """The chance of a gain, derived from the interval."""
        ends = (self.middle, self.middle - self.reach, self.middle + self.reach)
        return chance_of_gain(*map(math.exp, ends))


def fold_of(person: str) -> int:
    """The fold in which a person is left out; it depends only on the name and never changes."""
    return int(hashlib.sha256(person.encode()).hexdigest(), 16) % FOLDS


def left_out(
    rows: Sequence[Seen], design: Design, folds: Iterable[int] = range(FOLDS)
) -> Iterator[Predicted]:
    """Predict each row of these folds from all other folds."""
    place = np.array([fold_of(row.person) for row in rows])
    for fold in folds:
        yield from predictions(rows, design, place != fold, place == fold)


def predictions(
    rows: Sequence[Seen], design: Design, known: Chosen, asked: Chosen
) -> Iterator[Predicted]:
    """Predict the requested rows from the known rows."""
    fit = fit_of(design, known)
    constant = best_constant(rows[at] for at in np.flatnonzero(known))
    for at in np.flatnonzero(asked):
        case = rows[at].case
        above, deviation = fit.log_speedup(case)
        yield Predicted(
            row=rows[at], middle=case.total(above), deviation=deviation, constant=constant
        )


def fit_of(design: Design, known: Chosen) -> Fitted:
    """Fit the known rows, without intervals."""
    return Fitted(
        digest="",
        noise=round(math.hypot(PERSON, ROW), 4),
        spreads=dict(SPREADS),
        effects=design.effects(known),
        kinds={},
    )


def best_constant(rows: Iterable[Seen]) -> float:
    """Logarithm of the best constant speedup: the median over people's medians."""
    each = by_person(((row.person, row.log_speedup) for row in rows), np.median)
    return float(np.median(each))


def by_person(
    values: Iterable[tuple[str, float]], join: Callable[[list[float]], np.floating]
) -> list[float]:
    """Reduce each person's values to one value."""
    each = defaultdict(list)
    for person, value in values:
        each[person].append(value)
    return [float(join(found)) for found in each.values()]


def people(found: Iterable[Predicted]) -> int:
    return len({one.row.person for one in found})


def widths(found: Iterable[Predicted]) -> float:
    """Half-width, in deviations, that covers 90 % of the rows, with equal weight per person."""
    each = sorted((one.off / one.deviation, one.row.person) for one in found)
    rows: dict[str, int] = defaultdict(int)
    for _, person in each:
        rows[person] += 1
    reached = 0.0
    for width, person in each:
        reached += 1 / rows[person]
        if reached >= LEVEL * len(rows):
            return width
    raise ValueError("there are no rows")


def with_reach(found: Sequence[Predicted]) -> tuple[Predicted, ...]:
    """Set the `reach` of each row, from the errors on rows of the same kind in other folds.

    If fewer than `ENOUGH` people tried the kind, the errors on rows of all kinds are used.
    """
    kinds = by_kind(found)
    known = {
        (kind, fold): widths(one for one in alike if fold_of(one.row.person) != fold)
        for kind, alike in kinds.items()
        for fold in range(FOLDS)
    }

    def wide(row: Seen) -> float:
        kind = row.case.kind if row.case.kind in kinds else ALL
        return known[kind, fold_of(row.person)]

    return tuple(replace(one, reach=one.deviation * wide(one.row)) for one in found)


def by_kind(found: Sequence[Predicted]) -> Mapping[str, Sequence[Predicted]]:
    """Group the rows by kind, for kinds that enough people tried; the group `ALL` has all rows."""
    kinds = {ALL: list(found)}
    for one in found:
        kinds.setdefault(one.row.case.kind, []).append(one)
    return {kind: kinds[kind] for kind in sorted(kinds) if people(kinds[kind]) >= ENOUGH}


def intervals(found: Sequence[Predicted]) -> dict[str, Coverage]:
    """The interval width of each kind, with its cross-validated coverage."""
    return {
        kind: Coverage(
            widths=round(widths(alike), 3),
            held=round(share_held(alike), 3),
            figures=len(alike),
            people=people(alike),
        )
        for kind, alike in by_kind(found).items()
    }


def share_held(found: Iterable[Predicted]) -> float:
    """Share of rows inside their interval, with equal weight per person."""
    held = ((one.row.person, float(one.holds())) for one in found)
    return float(np.mean(by_person(held, np.mean)))
