"""Fit the cost of rounds and the usual acceptance, and test speedups from a stated acceptance.

Only figures with a stated depth and acceptance, or tokens per round, count. Each is predicted from
whole other sources, like the figures without an acceptance.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from bench.predictions.folds import FOLDS, fold_of, other, predictions, reaches, with_reach
from bench.predictions.measures import Scored, errors, held, people
from bench.predictions.rows import Seen
from bench.predictions.typical import typical_of
from estimates.voices import weights
from planner.acceptance import Fitted, Usual
from planner.estimate import ALL, Accuracy
from planner.kinds import machine_kind
from planner.rounds import first_chance, usual_cost
from schemas.vocabulary import TASKS

# The weight of the usual cost and the shape of the interval, chosen on whole sources left out.
WEIGHT, SPREAD, APART = 0.6, 0.2, 0.9
DRAWN = 20.0  # people of a kind of machine, against all kinds, in the reach of its intervals
_LOW, _MIDDLE, _HIGH = 0.1, 0.5, 0.9
_FEW = 3  # people


def with_tokens(rows: Sequence[Seen]) -> list[Seen]:
    """The rows with a stated acceptance and depth."""
    return [row for row in rows if row.tokens is not None]


def shipped(rows: Sequence[Seen]) -> Fitted:
    """The costs and acceptances over all rows, with intervals and errors from sources left out."""
    folds = deviations(rows)
    found = left_out(folds)
    accuracy = Accuracy(
        off=round(errors(found)[1], 3),
        held=round(held(found)[1], 3),
        figures=len(found),
        people=people(found),
    )
    fitted = fitted_to(rows)
    # One digit, because the index of machines, which pages load, has the number of each machine.
    reach = {kind: round(width, 1) for kind, width in reaches(other(folds), DRAWN).items()}
    costs = with_fields(fitted.costs, reach=reach)
    return with_fields(fitted, costs=costs, accuracy=accuracy)


def fitted_to(rows: Sequence[Seen]) -> Fitted:
    """The costs and acceptances over these rows."""
    known = with_tokens(rows)
    costs = typical_of(
        [replace(row, truth=math.log((row.tokens or 1) / _usual(row)) - row.truth) for row in known]
    )
    return Fitted(
        weight=WEIGHT,
        spread=SPREAD,
        apart=APART,
        costs=costs,
        usual=dict(_usuals(known)),
    )


def left_out(folds: Mapping[int, Sequence[Scored]]) -> list[Scored]:
    """The predictions with intervals that are calibrated on other sources."""
    return [
        one
        for fold, own in folds.items()
        for one in with_reach(own, reaches(other(folds, fold), DRAWN))
    ]


def deviations(rows: Sequence[Seen]) -> Mapping[int, Sequence[Scored]]:
    """The predictions of each fold from the others; the `reach` is one deviation.

    Their kind is the kind of machine.
    """
    found = {}
    for fold in range(FOLDS):
        known = [row for row in rows if fold_of(row.source) != fold]
        asked = with_tokens([row for row in rows if fold_of(row.source) == fold])
        fitted = fitted_to(known)
        found[fold] = [_with(fitted, row, one) for row, one in predictions(known, asked)]
    return found


def _with(fitted: Fitted, row: Seen, estimate: Scored) -> Scored:
    """The prediction with the row's own acceptance in place of the estimate."""
    cost = fitted.implied(row.case, row.drafted, _usual(row), math.exp(estimate.middle))
    middle = min(math.log((row.tokens or 1) / cost), math.log(row.depth + 1))
    reach = math.hypot(SPREAD, APART * (middle - estimate.middle))
    return replace(estimate, middle=middle, reach=reach, kind=machine_kind(row.case.rig))


def _usual(row: Seen) -> float:
    kind = machine_kind(row.case.rig)
    return usual_cost(row.drafted, kind, mixture=row.case.mixture, drafting=row.drafting)


def _usuals(rows: Sequence[Seen]) -> Iterator[tuple[str, Usual]]:
    """Yield the first chances of all rows, of each kind of method, and of each kind and task."""
    keys: Sequence[Callable[[Seen], str | None]] = (
        lambda _: ALL,
        lambda row: row.case.kind,
        lambda row: f"{row.case.kind}, {row.task}" if row.task in TASKS else None,
    )
    for key in keys:
        each: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if (name := key(row)) is not None:
                first = first_chance(row.tokens or 1, row.drafted)
                each[name][row.person].append(first)
        sources = {row.person: row.source for row in rows}
        for name, own in sorted(each.items()):
            if len(own) >= _FEW or name == ALL:
                yield name, _over_people(own, sources)


def _over_people(own: Mapping[str, Sequence[float]], sources: Mapping[str, str]) -> Usual:
    voices = weights({person: sources[person] for person in own})
    ranked = sorted((statistics.median(values), person) for person, values in own.items())
    total, reached, found = sum(voices.values()), 0.0, list[float]()
    for value, person in ranked:
        reached += voices[person]
        ends = sum(reached >= share * total for share in (_LOW, _MIDDLE, _HIGH))
        found += [round(value, 3)] * (ends - len(found))
    low, middle, high = found
    return Usual(low, middle, high, len(own))
