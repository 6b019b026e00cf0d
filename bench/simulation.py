"""Measure coverage and error of estimators on simulated rigs whose true speedups are known.

`make bench` includes this simulation; `python -m bench.simulation` runs only the simulation. With
`--output`, the figures are also written as JSON, for the pages that quote them.
"""

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np

from bench.aa_table import rounded
from bench.estimators import Arm, FoundInterval, Level, Method, figures
from bench.population import population
from bench.rigs import SCENARIOS

CAMPAIGNS = 500
COMMAND = "python -m bench.simulation"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRow:
    """Bias, error and coverage of one figure over all campaigns of a scenario.

    `bias` is the geometric mean of (found value / truth), minus 1. `error_95` is the 95th
    percentile of the relative error. Both compare with the truth of the prompts that were run.
    `coverage` is the share of intervals that contain the truth of the population,
    `coverage_of_prompts` the share that contain the truth of the prompts that were run.
    `half_width` is the median over the campaigns, `blocks` the mean number of blocks.
    """

    scenario: str
    arm: Arm
    level: Level
    method: Method
    figures: int
    bias: float
    error_95: float
    coverage: float | None = None
    coverage_of_prompts: float | None = None
    half_width: float | None = None
    blocks: float | None = None


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, print a table per scenario, and write the figures with `--output`."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="campaigns per scenario")
    parser.add_argument(
        "--scenario", action="append", choices=SCENARIOS, help="scenario to run; can be repeated"
    )
    parser.add_argument("--date", help="date to record in the JSON")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    rows: list[SimulationRow] = []
    for scenario in chosen.scenario or SCENARIOS:
        fresh = simulate(scenario, chosen.campaigns)
        rows += fresh
        sys.stdout.write("\n".join(table(fresh)) + "\n\n")
        sys.stdout.flush()
    if chosen.output:
        chosen.output.write_text(_json(rows, chosen.campaigns, chosen.date), "utf-8")


def simulate(scenario: str, campaigns: int) -> list[SimulationRow]:
    """Return all figures of one scenario; they depend only on the number of campaigns."""
    known = population()
    found: dict[tuple[Arm, Level, Method], list[FoundInterval]] = defaultdict(list)
    for seed in range(campaigns):
        for each in figures(known, SCENARIOS[scenario], seed):
            found[each.arm, each.level, each.method].append(each)
    return [
        _row(scenario, found[arm, level, method])
        for arm in get_args(Arm)
        for level in get_args(Level)
        for method in get_args(Method)
        if (arm, level, method) in found
    ]


def table(rows: Sequence[SimulationRow]) -> Iterator[str]:
    """Format the lines of one scenario."""
    heads = ("bias", "error 95", "covered", "prompts", "half-width", "blocks")
    yield f"{rows[0].scenario:44}" + "".join(f"{head:>11}" for head in heads)
    for row in rows:
        values = (row.error_95, row.coverage, row.coverage_of_prompts, row.half_width)
        shown = "".join(f"{'' if each is None else f'{each:.1%}':>11}" for each in values)
        blocks = "" if row.blocks is None else f"{row.blocks:>11.1f}"
        yield f"  {row.arm:9}{row.level:11}{row.method:22}{row.bias:>+11.2%}{shown}{blocks}"


def _row(scenario: str, group: Sequence[FoundInterval]) -> SimulationRow:
    first = group[0]
    errors = np.array([each.value - each.truth for each in group])
    row = SimulationRow(
        scenario=scenario,
        arm=first.arm,
        level=first.level,
        method=first.method,
        figures=len(group),
        bias=math.expm1(float(errors.mean())),
        error_95=math.expm1(float(np.quantile(np.abs(errors), 0.95))),
    )
    if first.low is None:
        return row
    return replace(
        row,
        coverage=_covered(group, lambda each: each.population_truth),
        coverage_of_prompts=_covered(group, lambda each: each.truth),
        blocks=float(np.mean([each.blocks for each in group])),
        half_width=math.expm1(float(np.median([_half_width(each) for each in group]))),
    )


def _covered(group: Sequence[FoundInterval], truth: Callable[[FoundInterval], float]) -> float:
    inside = [
        each.low <= truth(each) <= each.high
        for each in group
        if each.low is not None and each.high is not None
    ]
    return sum(inside) / len(group)


def _half_width(each: FoundInterval) -> float:
    return math.inf if each.low is None or each.high is None else (each.high - each.low) / 2


def _json(rows: Sequence[SimulationRow], campaigns: int, date: str | None) -> str:
    about = {"command": COMMAND, "date": date, "campaigns_per_scenario": campaigns}
    listed = [rounded(asdict(row)) for row in rows]
    return json.dumps({**about, "rows": listed}, indent=2) + "\n"


if __name__ == "__main__":
    main()
