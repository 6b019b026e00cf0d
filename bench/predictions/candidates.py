"""Compare designs of the estimate on sources left out: `python -m bench.predictions.candidates`.

Each design learns from nine tenths of the sources in `results/` and predicts the figures of the
rest. `docs/design/0054-one-estimate.md` has the table, with designs whose code is gone.
"""

import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from answers.kinds import drafting_class, machine_kind
from bench.predictions.measures import Scored, each_person, line
from bench.predictions.rows import Seen, listed, seen
from bench.predictions.typical import medians
from pipeline.data.database import open_database

FOLDS, SEEDS = 10, (1, 2)
Predict: TypeAlias = Callable[[Seen], float]
Learn: TypeAlias = Callable[[Sequence[Seen]], Predict]
_REACH = math.log(2.1)  # the half-width that is tried with every design
_DEPTHS = (1, 2, 4, 8)


def shape(row: Seen) -> tuple[str, str]:
    """The class of a figure: how the method drafts, and whether the target is a mixture."""
    return drafting_class(row.case.method), row.case.kind.partition(",")[0]


def kind(row: Seen) -> tuple[str, ...]:
    return "partly" if row.case.partly else machine_kind(row.case.rig), *shape(row)


def depth_range(row: Seen) -> int:
    return sum(row.depth > end for end in _DEPTHS)


def constant(rows: Sequence[Seen]) -> Predict:
    middle = medians(_truths(rows), lambda _: "")[""][0]
    return lambda _: middle


def median_by(*keys: Callable[[Seen], object], least: float) -> Learn:
    """The median of the first key that at least this many voices tried, else of all rows."""

    def learn(rows: Sequence[Seen]) -> Predict:
        tables = [(key, medians(_truths(rows), key)) for key in keys]
        every = constant(rows)

        def predict(row: Seen) -> float:
            known = (table.get(key(row)) for key, table in tables)
            return next((each[0] for each in known if each and each[1] >= least), every(row))

        return predict

    return learn


def levels(*steps: tuple[Callable[[Seen], object], float]) -> Learn:
    """The sum of medians of what the steps before leave, each drawn to 0: n voices / (n + k)."""

    def learn(rows: Sequence[Seen]) -> Predict:
        left = [row.truth for row in rows]
        found = []
        for key, drawn in ((lambda _: "", 0.0), *steps):
            table = {
                name: middle * voices / (voices + drawn)
                for name, (middle, voices) in medians(zip(rows, left, strict=True), key).items()
            }
            left = [value - table[key(row)] for row, value in zip(rows, left, strict=True)]
            found.append((key, table))
        return lambda row: sum(table.get(key(row), 0.0) for key, table in found)

    return learn


def with_evidence(base: Learn, model: float, local: float, person: float) -> Learn:
    """A design, pulled by figures of the same model: most by those from the same place.

    The arguments are standard deviations of logarithms: of models, of places with one model, and of
    one person at a place.
    """

    def learn(rows: Sequence[Seen]) -> Predict:
        predict = base(rows)
        each = defaultdict(list)
        for row in rows:
            each[(row.model, shape(row)[0]), row.place].append(
                (row.person, row.truth - predict(row))
            )
        tried = defaultdict(list)
        for (what, where), values in each.items():
            middles = each_person(values, statistics.median)
            tried[what].append((where, len(middles), statistics.median(middles)))

        def pulled(row: Seen) -> float:
            here = [x for x in tried[row.model, shape(row)[0]] if x[0] == row.place]
            there = [x for x in tried[row.model, shape(row)[0]] if x[0] != row.place]
            weights = [1 / (local**2 + person**2 / n) for _, n, _ in there]
            variance = 1 / (model**-2 + sum(weights))
            middle = variance * sum(w * x for w, (_, _, x) in zip(weights, there, strict=True))
            for _, n, value in here:
                prior = variance + local**2
                middle += prior / (prior + person**2 / n) * (value - middle)
            return predict(row) + middle

        return pulled

    return learn


STEPS = (shape, 1.0), (kind, 3.0)
KINDS = levels(*STEPS)
DESIGNS: Mapping[str, Learn] = {
    "a constant": constant,
    "median by class": median_by(shape, least=0.0),
    "median by class and kind of card (3 voices)": median_by(kind, shape, least=3.0),
    "medians drawn together: class, kind of card": KINDS,
    "the same, with evidence (ships)": with_evidence(KINDS, 0.1, 0.15, 0.2),
    **{
        f"the same, and {name}": with_evidence(levels(*STEPS, (key, 8.0)), 0.1, 0.15, 0.2)
        for name, key in (
            ("depth", lambda row: (depth_range(row), shape(row)[0])),
            ("engine", lambda row: (row.engine, shape(row)[0])),
            ("task", lambda row: (row.task, shape(row)[0])),
        )
    },
    "evidence half as free": with_evidence(KINDS, 0.05, 0.075, 0.2),
    "evidence twice as free": with_evidence(KINDS, 0.2, 0.3, 0.2),
}


def main() -> None:
    """Print every design's measures over two ways to deal the sources into ten folds."""
    rows = tuple(seen(listed(open_database(Path("results")))))
    table = None
    for name, learn in DESIGNS.items():
        found = [one for seed in SEEDS for one in left_out(rows, learn, seed)]
        cells = line(name, found)
        table = table or Table(*cells, box=None, pad_edge=False)
        table.add_row(*map(str, cells.values()))
    Console(width=150).print(table)


def left_out(rows: Sequence[Seen], learn: Learn, seed: int = 1) -> list[Scored]:
    """Predict each row with a design that learned from other sources."""
    found = []
    for fold in range(FOLDS):
        predict = learn([row for row in rows if fold_of(row.source, seed) != fold])
        for row in rows:
            if fold_of(row.source, seed) == fold:
                middle = min(predict(row), math.log(row.depth + 1))
                found.append(
                    Scored(
                        person=row.person,
                        truth=row.truth,
                        middle=middle,
                        reach=_REACH,
                        stated=row.stated,
                    )
                )
    return found


def fold_of(source: str, seed: int = 1) -> int:
    """The fold in which a source is left out; it depends only on its name."""
    return int(hashlib.sha256(f"{seed} {source}".encode()).hexdigest(), 16) % FOLDS


def _truths(rows: Sequence[Seen]) -> list[tuple[Seen, float]]:
    return [(row, row.truth) for row in rows]


if __name__ == "__main__":
    main()
