"""Compute the tables of `make predictions` and of the Proofs page: errors, calibration, misses.

A person's error is the median of |log ratio| over their rows, and a person's share is a share of
their rows. Each figure in a table is the median error or the mean share over people.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from answers.effects import Case, machine_kind
from bench.predictions.folds import Predicted, by_person, fold_of, people, share_held

Line = Mapping[str, object]
Rows = Sequence[Predicted]
_FAR = math.log(1.1)  # the side of 1 is judged only if the truth is at least this far from 1
_FEW = 5  # people; a kind with fewer people has no line
_WORST = 10
_CONSUMER = ("nvidia", "nvidia old", "amd", "intel")
_SHARES = {0.5: 0.6745, 0.8: 1.2816, 0.9: 1.6449, 0.95: 1.96}  # normal half-widths
_CHANCES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


def factor(rows: Rows) -> float:
    """Median error of the predictions, as a factor."""
    return _median((one.row.person, one.off) for one in rows)


def constant_factor(rows: Rows) -> float:
    """Median error of the best constant of each fold, as a factor."""
    return _median((x.row.person, abs(x.constant - x.row.log_speedup)) for x in rows)


def half_width(rows: Rows) -> float:
    """Geometric mean half-width of the 90 % intervals, as a factor."""
    return math.exp(_mean((one.row.person, one.reach) for one in rows))


def side_right(rows: Rows) -> float:
    """Share of predictions on the same side of 1 as the truth."""
    return _mean((one.row.person, float(one.middle * one.row.log_speedup > 0)) for one in rows)


def constant_side(rows: Rows) -> float:
    """Share of rows for which the fold's best constant is on the same side of 1 as the truth."""
    return _mean((one.row.person, float(one.constant * one.row.log_speedup > 0)) for one in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal for the predictions of some of the rows."""

    name: str
    must: str
    reached: Callable[[Rows], float]
    constant: Callable[[Rows], float] | None = None
    of: Callable[[Rows], Rows] = lambda rows: rows

    def line(self, rows: Rows) -> Line:
        chosen = self.of(rows)
        return {
            "name": self.name,
            "must": self.must,
            "reached": round(self.reached(chosen), 3),
            "constant": round(self.constant(chosen), 3) if self.constant else None,
            "figures": len(chosen),
            "people": people(chosen),
        }


def far(rows: Rows) -> Rows:
    """Rows whose truth is clearly on one side of 1."""
    return [one for one in rows if abs(one.row.log_speedup) > _FAR]


def _own_heads(rows: Rows) -> Rows:
    return [one for one in rows if one.row.case.sort == "mtp" and machine_of(one) in _CONSUMER]


def _seen_elsewhere(rows: Rows) -> Rows:
    """Rows whose model and method were tried on a different card by people in other folds."""
    tried = defaultdict(set)
    for one in rows:
        tried[_pair(one)].add((fold_of(one.row.person), one.row.case.rig.card))
    return [
        one
        for one in rows
        if any(
            fold != fold_of(one.row.person) and card != one.row.case.rig.card
            for fold, card in tried[_pair(one)]
        )
    ]


GOALS = (
    Goal(name="Median factor off", must="at most 1.26", reached=factor, constant=constant_factor),
    Goal(
        name="Median factor off, built-in heads on consumer cards",
        must="at most 1.18",
        reached=factor,
        constant=constant_factor,
        of=_own_heads,
    ),
    Goal(
        name="Share of 90 % intervals that contain the truth",
        must="0.85 to 0.95",
        reached=share_held,
    ),
    Goal(name="Half-width of the interval, as a factor", must="at most 1.9", reached=half_width),
    Goal(
        name="Share on the right side of 1 where the truth is beyond 10 %",
        must="at least 0.82",
        reached=side_right,
        constant=constant_side,
        of=far,
    ),
    Goal(
        name="Median factor off, pair and method seen on another card",
        must="at most 1.15",
        reached=factor,
        constant=constant_factor,
        of=_seen_elsewhere,
    ),
)


def kinds(rows: Rows) -> Iterator[Line]:
    """Yield a line for each target kind, method and card maker that enough people tried."""
    each = defaultdict(list)
    for one in rows:
        case = one.row.case
        each[case.shape, case.sort, "every card"].append(one)
        each[case.shape, case.sort, machine_of(one).partition(" ")[0]].append(one)
    for (shape, sort, maker), own in sorted(each.items()):
        if people(own) >= _FEW:
            clear = far(own)
            yield {
                "target": shape,
                "method": sort,
                "maker": maker,
                "figures": len(own),
                "people": people(own),
                "off": round(factor(own), 3),
                "constant": round(constant_factor(own), 3),
                "stated": 0.9,
                "held": round(share_held(own), 3),
                "half_width": round(half_width(own), 3),
                "side": round(side_right(clear), 3) if clear else None,
            }


def folds(rows: Rows) -> Iterator[Line]:
    """Yield a line for each fold, so that readers can recompute a few of the folds."""
    each = defaultdict(list)
    for one in rows:
        each[fold_of(one.row.person)].append(one)
    for fold, own in sorted(each.items()):
        yield {"fold": fold, "figures": len(own), "off": round(factor(own), 4)}


def calibration(rows: Rows) -> Iterator[Line]:
    """Compare the stated coverage and chances with the shares seen in cross-validation."""
    for stated, width in _SHARES.items():
        share = width / _SHARES[0.9]
        held = ((one.row.person, float(one.holds(share))) for one in rows)
        yield _calibrated(f"{stated:.0%} interval", stated, _mean(held), rows)
    for low, high in pairwise(_CHANCES):
        own = [one for one in rows if low < one.chance <= high]
        if people(own) >= _FEW:
            stated = _mean((one.row.person, one.chance) for one in own)
            seen = _mean((one.row.person, float(one.row.log_speedup > 0)) for one in own)
            yield _calibrated(f"chance of a gain, {low:.0%} to {high:.0%}", stated, seen, own)


def worst(rows: Rows) -> Iterator[Line]:
    """Yield the figures furthest from their predictions, at most one per person."""
    seen: set[str] = set()
    for one in sorted(rows, key=lambda each: (-each.off, each.row.source, each.row.card)):
        if one.row.person in seen or len(seen) == _WORST:
            continue
        seen.add(one.row.person)
        case = one.row.case
        yield {
            "what": f"{one.row.target} on {one.row.card}, {case.method} at depth {case.depth}",
            "predicted": round(math.exp(one.middle), 2),
            "truth": round(math.exp(one.row.log_speedup), 2),
            "source": one.row.source,
            "why": "; ".join(_reasons(one, rows)) or "not known",
        }


def _reasons(one: Predicted, rows: Rows) -> Iterator[str]:
    """Yield possible reasons for an error: the row's `doubts`, and settings nobody else tried."""
    if one.row.doubts:
        yield f"marked: {', '.join(one.row.doubts)}"
    others = [other.row.case for other in rows if other.row.person != one.row.person]
    for what in (_engine, _depth, _card):
        value = what(one.row.case)
        if value not in map(what, others):
            yield f"nobody else used {value}"


def _engine(case: Case) -> str:
    return case.engine


def _depth(case: Case) -> str:
    return f"depth {case.depth} with {case.method} on a {case.shape} target"


def _card(case: Case) -> str:
    return f"{case.method} on {case.rig.card}"


def machine_of(one: Predicted) -> str:
    """The kind of machine of a row."""
    return machine_kind(one.row.case.rig, unified=one.row.case.unified)


def _calibrated(name: str, stated: float, seen: float, rows: Rows) -> Line:
    return {
        "name": name,
        "stated": round(stated, 3),
        "seen": round(seen, 3),
        "figures": len(rows),
        "people": people(rows),
    }


def _pair(one: Predicted) -> tuple[str, str]:
    return one.row.case.model, one.row.case.sort


def _median(values: Iterable[tuple[str, float]]) -> float:
    return math.exp(float(np.median(by_person(values, np.median))))


def _mean(values: Iterable[tuple[str, float]]) -> float:
    return float(np.mean(by_person(values, np.mean)))
