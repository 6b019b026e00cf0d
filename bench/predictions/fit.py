"""Fit the effects on a speedup to all results: partial pooling with a robust likelihood.

This is a Bayesian ridge regression on the logarithm of the speedup. Every effect has a normal prior
around 0 with the standard deviation that `SPREADS` has for the effect's name, so a card or pair
that few people tried is drawn towards related cards or pairs. Each person has a separate effect,
and each row counts less if its person has many rows, so that a sweep does not outvote other people.
Errors follow Student's t distribution instead of the normal distribution, so outliers move the fit
little; the weights are iterated (Lange, Little and Taylor 1989).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from answers.effects import effects_of
from bench.predictions.rows import Seen

Array: TypeAlias = npt.NDArray[np.float64]
Chosen: TypeAlias = npt.NDArray[np.bool_]  # a mask of rows

# Prior standard deviations of logarithms, by the name of an effect. They were chosen by
# cross-validation over people, which `python -m bench.predictions` reports.
SPREADS: Mapping[str, float] = {
    "all": 1.0, "physics": 0.5, "plain speed": 0.3, "method": 0.3, "method and shape": 0.5,
    "kind": 0.15, "kind and method": 0.1, "kind and shape": 0.1, "kind, shape and method": 0.1,
    "engine": 0.1, "engine and method": 0.1, "engine and kind": 0.1,
    "depth": 0.15, "depth and shape": 0.1, "task": 0.15, "task and depth": 0.15,
    "partly": 0.3, "cards": 0.15, "pair": 0.05, "card": 0.05,
}  # fmt: skip
PERSON, ROW = 0.3, 0.12  # deviation between people, and between one person's rows
_FREEDOM = 4.0  # degrees of freedom of Student's t
_CROWD = 0.7  # each of a person's n rows has the weight n to the power of minus this number
_HALF_LIFE_YEARS = 1.0  # half-life of the weight of an old row
_ROUNDS = 6
_MONTHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The design matrix: a column per effect or person, in units of its prior's deviation."""

    values: Array
    names: tuple[str, ...]
    scales: Array
    truth: Array
    weights: Array

    def fit(self, chosen: Chosen) -> tuple[Array, Array]:
        """Return each column's coefficient and standard deviation, from the chosen rows.

        Each deviation is computed as if the other effects were known. Intervals from such
        deviations would be too narrow, so widths are calibrated by cross-validation over people.
        """
        x, y, base = self.values[chosen], self.truth[chosen], self.weights[chosen]
        used = x.any(axis=0)
        x, weights = x[:, used], base / ROW**2
        for _ in range(_ROUNDS):
            precision = (x.T * weights) @ x + np.eye(x.shape[1])
            found = np.linalg.solve(precision, (x.T * weights) @ y)
            off = (y - x @ found) / ROW
            weights = base / ROW**2 * (_FREEDOM + 1) / (_FREEDOM + off**2)
        coefficients, deviations = np.zeros(len(used)), np.ones(len(used))
        coefficients[used] = found
        deviations[used] = 1 / np.sqrt(np.diag(precision))
        return coefficients * self.scales, deviations * self.scales

    def effects(self, chosen: Chosen) -> dict[str, tuple[float, float]]:
        """The effects that ship: all that the chosen rows inform, except the effects of people."""
        return {
            name: (round(float(value), 4), round(float(deviation), 4))
            for name, value, deviation, scale in zip(
                self.names, *self.fit(chosen), self.scales, strict=True
            )
            if deviation < scale and not name.startswith("person|")
        }


def design_of(rows: Sequence[Seen]) -> Design:
    """Turn rows into a design matrix; each row's age is relative to the newest row."""
    columns: dict[str, int] = {}
    cells: list[tuple[int, int, float]] = []
    for at, row in enumerate(rows):
        for name, value in (*effects_of(row.case).items(), (f"person|{row.person}", 1.0)):
            column = columns.setdefault(name, len(columns))
            cells.append((at, column, value))
    names = tuple(columns)
    scales = np.array([SPREADS.get(name.partition("|")[0], PERSON) for name in names])
    values = np.zeros((len(rows), len(names)))
    for at, column, value in cells:
        values[at, column] = value * scales[column]
    return Design(
        values=values,
        names=names,
        scales=scales,
        truth=np.array([row.log_speedup - row.case.displaced for row in rows]),
        weights=_weights(rows),
    )


def _weights(rows: Sequence[Seen]) -> Array:
    each = Counter(row.person for row in rows)
    ages = np.array([_years(row.day) for row in rows])
    ages = np.nanmax(ages) - np.where(np.isnan(ages), np.nanmax(ages), ages)
    crowd = np.array([each[row.person] ** -_CROWD for row in rows])
    return np.asarray(crowd * 0.5 ** (ages / _HALF_LIFE_YEARS))


def _years(day: str) -> float:
    """A date as a number of years, to the month; NaN if the row has no date."""
    try:
        found = date.fromisoformat((day + "-01-01")[:10])
    except ValueError:
        return float("nan")
    return found.year + (found.month - 1) / _MONTHS
