"""Measure the coverage of cells' intervals for known spreads between contributors and machines.

`python -m bench.cells` prints two shares for every mix of 1 to 4 contributors and 1 to 4 machines.
The first is the share of cells whose interval contains the truth, per token and for the stated
request. The second is the share of squares (each shows the best of 13 configurations) that show a
gain that does not exist.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.votes import PoolInterval, Vote, pool_intervals
from estimates.distributions import t_quantile
from estimates.intervals import choice_factor
from schemas.vocabulary import CLEAR_OF_ONE, HELPS_ABOVE, HURTS_BELOW

Figures = NDArray[np.float64]

REPETITIONS = 300
CONFIGURATIONS = 13
PROMPTS = 8
CONTRIBUTORS = (1, 2, 3, 4)
MACHINES = (1, 2, 3, 4)
SEED = 20261121


@dataclass(frozen=True, slots=True, kw_only=True)
class CellWorld:
    """Standard deviations of logs; `shared` is the correlation between a contributor's cells."""

    between: float
    machine: float = 0.02
    run: float = 0.015
    prompts: float = 0.03
    shared: float = 0.0


WORLDS = {
    "spread 2 %": CellWorld(between=0.02, machine=0.01, run=0.01),
    "spread 6 %": CellWorld(between=0.06),
    "spread 6 %, alike in all cells": CellWorld(between=0.06, shared=1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """One square of the map: each configuration's figure, with its lower and upper bound."""

    figures: Figures
    low: Figures
    high: Figures

    @property
    def best(self) -> int:
        """The index of the configuration that the square shows: the one with the highest figure."""
        return int(np.argmax(self.figures))

    @property
    def best_low(self) -> float:
        """The shown configuration's lower bound, moved down because it was chosen as the best."""
        best = self.best
        distance = self.figures[best] - self.low[best]
        return float(self.figures[best] - choice_factor(len(self.figures)) * distance)

    @property
    def best_helps(self) -> bool:
        """Check whether the shown configuration clearly helps, judged by its lowered bound."""
        return bool(_above(self.best_low, self.high[self.best]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.cells", description=__doc__)
    parser.add_argument(
        "--repetitions", type=int, default=REPETITIONS, help="number of squares per mix"
    )
    chosen = parser.parse_args(arguments)
    for line in coverage(chosen.repetitions):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def coverage(repetitions: int) -> Iterator[str]:
    """Yield a line per mix: coverage, false signs in cells, false signs in squares."""
    heads = ("covered", "request", "half-width", "false sign", "best ▲", "corrected")
    yield f"{'contributors x machines':44}" + "".join(f"{head:>19}" for head in heads)
    for (name, world), contributors, machines in product(WORLDS.items(), CONTRIBUTORS, MACHINES):
        rng = np.random.default_rng(SEED)
        drawn = [_votes(rng, world, contributors, machines) for _ in range(repetitions)]
        squares = _squares(drawn)
        low, high = _bounds(squares)
        request_low, request_high = _bounds(_squares(drawn, "stated_request"))
        row = (
            float(np.mean((low <= 0) & (high >= 0))),
            float(np.mean((request_low <= 0) & (request_high >= 0))),
            float(np.median(np.expm1((high - low) / 2))),
            float(np.mean(_above(low, high) | _above(-high, -low, 1 / HURTS_BELOW))),
            float(np.mean([_above(each.low, each.high)[each.best] for each in squares])),
            float(np.mean([each.best_helps for each in squares])),
        )
        shown = "".join(f"{value:>19.3f}" for value in row)
        yield f"{name}: {contributors} x {machines}".ljust(44) + shown


def _votes(
    rng: np.random.Generator, world: CellWorld, contributors: int, machines: int
) -> list[Vote]:
    """Draw the votes of all configurations of a square, each with a true ratio of 1."""
    shape = (CONFIGURATIONS, contributors)
    everywhere, here = rng.normal(size=contributors), rng.normal(size=shape)
    between = math.sqrt(world.shared) * everywhere + math.sqrt(1 - world.shared) * here
    own = rng.normal(scale=math.hypot(world.machine, world.run), size=(*shape, machines))
    prompts = rng.normal(scale=world.prompts, size=(*shape, machines, PROMPTS))
    error = prompts.std(axis=-1, ddof=1) / math.sqrt(PROMPTS)
    half_width = np.sqrt(np.mean((error * t_quantile(PROMPTS - 1, 0.975)) ** 2, axis=-1))
    logs = world.between * between + np.median(own + prompts.mean(axis=-1), axis=-1)
    return [
        Vote(
            pool=f"{cell:02}",
            voter=str(person),
            ratio=math.exp(logs[cell, person]),
            half_width=float(half_width[cell, person]),
            prompts=PROMPTS,
            machines=machines,
            files=machines,
        )
        for cell, person in product(range(CONFIGURATIONS), range(contributors))
    ]


def _squares(drawn: Sequence[Sequence[Vote]], measure: str = "speedup") -> list[Square]:
    """Return a square per draw, each in its own tier, since pools borrow strength within tiers."""
    votes = (
        vote._replace(pool=f"{number:05}-{vote.pool}", tier=str(number), measure=measure)
        for number, every in enumerate(drawn)
        for vote in every
    )
    found = iter(pool_intervals(votes))
    return [_square(every, found) for every in drawn]


def _square(votes: Sequence[Vote], intervals: Iterator[PoolInterval]) -> Square:
    logs: dict[str, list[float]] = {}
    for vote in votes:
        logs.setdefault(vote.pool, []).append(math.log(vote.ratio))
    own = list(islice(intervals, len(logs)))
    return Square(
        figures=np.array([float(np.median(each)) for each in logs.values()]),
        low=np.log([each.low for each in own]),
        high=np.log([each.high for each in own]),
    )


def _bounds(squares: Sequence[Square]) -> tuple[Figures, Figures]:
    return np.array([each.low for each in squares]), np.array([each.high for each in squares])


def _above(low: Any, high: Any, least: float = HELPS_ABOVE) -> Any:  # noqa: ANN401 - numbers or arrays
    """Check whether a log interval is clearly above 0, as `estimates.verdicts.judge` does."""
    return low > np.maximum(math.log(least), CLEAR_OF_ONE * (high - low) / 2)


if __name__ == "__main__":
    main()
