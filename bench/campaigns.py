"""Coverage of the intervals of a campaign under every disturbance; the truth is exactly 1.0.

`python -m bench.campaigns` draws campaigns of a baseline and arms that are as fast: prompts
that differ, machines that drift, that have two speeds, that stall. One row per scenario: how often
the interval contains the truth, over all tasks and for one task; how often a task shows a sign,
which is false; how often the interval contains the ratio by the wall clock; and the half-width.
`before` is the estimator of the first version on the same machines: rows of the square by turns,
medians of rounds, the spread within tasks. Exit code 1 if a promise is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bench.disturbances import QUIET, SCENARIOS, TOKENS, measured, rounds_of
from estimates.intervals import CONFIDENCE
from estimates.pairing import pair
from estimates.ratios import scopes
from estimates.student_t import t_quantile
from estimates.summary import published, wall_speedup
from estimates.verdicts import judge
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Prompt, Submission, Trial
from schemas.vocabulary import FIXED_TASKS
from tests.samples import sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.disturbances import Logs, Scenario, Times

CAMPAIGNS, SEED = 1000, 20261121
COVERED, FALSE_SIGNS, WIDER = 0.93, 0.03, 1.15


@dataclass(frozen=True, slots=True)
class Row:
    """Shares of campaigns or of their tasks, and median half-widths over all tasks."""

    covered_before: float
    covered: float
    one_task: float
    false_signs: float
    contains_wall: float
    wide_before: float
    wide: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, then what was promised and not found."""
    parser = argparse.ArgumentParser(prog="python -m bench.campaigns", description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="per scenario")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="may be repeated")
    chosen = parser.parse_args(arguments)
    heads = ("before", "all tasks", "one task", "false signs", "has wall", "width before", "now")
    sys.stdout.write(f"{'':32}" + "".join(f"{head:>13}" for head in heads) + "\n")
    missed = []
    for name in chosen.scenario or SCENARIOS:
        row = simulate(SCENARIOS[name], chosen.campaigns)
        cells = "".join(f"{getattr(row, each):>13.3f}" for each in Row.__slots__)
        sys.stdout.write(f"{name:32}{cells}\n")
        sys.stdout.flush()
        missed += [f"{name}: {each}" for each in broken(name, row)]
    sys.stdout.writelines(f"missed: {each}\n" for each in missed)
    return 1 if missed else 0


def broken(name: str, row: Row) -> Iterator[str]:
    """The promises that a row does not keep."""
    if row.covered < COVERED or row.one_task < COVERED:
        yield "coverage"
    if row.false_signs > FALSE_SIGNS:
        yield "false signs"
    if row.contains_wall < CONFIDENCE:
        yield "wall clock"
    if name == QUIET and row.wide > WIDER * row.wide_before:
        yield f"more than {WIDER:g} times as wide as before"


def simulate(scenario: Scenario, campaigns: int) -> Row:
    """So many campaigns of a scenario by both estimators."""
    rng = np.random.default_rng(SEED)
    base = _base(scenario)
    before, now = [], []
    for _ in range(campaigns):
        truths = scenario.offset * rng.normal(size=len(FIXED_TASKS))
        before.append(_within(measured(rng, scenario, truths, rotated=True)))
        now.append(_judged(base, measured(rng, scenario, truths, rotated=False), truths))
    return Row(
        _mean(abs(centre) <= half for centre, half in before if not math.isnan(half)),
        float(np.mean([each.covered for each in now])),
        _mean(flag for each in now for flag in each.tasks_covered),
        _mean(flag for each in now for flag in each.signs),
        _mean(flag for each in now for flag in each.walls),
        math.expm1(float(np.median([half for _, half in before]))),
        math.expm1(float(np.median([each.half for each in now]))),
    )


def _within(times: Times) -> tuple[float, float]:
    """Centre and half-width over all tasks by the first version (Welch, Satterthwaite)."""
    rounds = np.array([rounds_of(at) for at in range(2)])
    sums = np.log(times.median[:, :, :2] * rounds)
    logs = np.median(sums[:, :, 0] - sums[:, :, 1], axis=0).reshape(len(FIXED_TASKS), -1)
    each = logs.shape[1]
    if each == 1:  # a task had no interval, and so all of them had none
        return float(logs.mean()), math.nan
    terms = logs.var(axis=1, ddof=1) / each / len(FIXED_TASKS) ** 2
    freedom = terms.sum() ** 2 / (terms**2 / (each - 1)).sum()
    half = t_quantile(float(freedom), (1 + CONFIDENCE) / 2) * math.sqrt(terms.sum())
    return float(logs.mean()), half


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the product's own code says of one campaign's first arm."""

    covered: bool
    half: float
    tasks_covered: tuple[bool, ...]
    signs: tuple[bool, ...]
    walls: tuple[bool, ...]


def _judged(base: Submission, times: Times, truths: Logs) -> Judged:
    submission = replace(base, trials=tuple(_trials(base, times)))
    arm = submission.arms[1]
    tasks_covered, signs, walls = [], [], []
    for scope in scopes(submission, arm, pair(submission, arm)):
        by_wall = wall_speedup(scope)
        interval = published(scope, by_wall)
        if interval is None or by_wall is None:
            continue
        walls.append(interval.low <= by_wall <= interval.high)
        low, high = math.log(interval.low), math.log(interval.high)
        if scope.task is None:
            covered, half = low <= 0 <= high, (high - low) / 2
        else:
            truth = float(truths[FIXED_TASKS.index(scope.task)])
            tasks_covered.append(low <= truth <= high)
            if truth == 0:
                signs.append(judge(interval) != "no-clear-difference")
    return Judged(
        covered=covered, half=half, tasks_covered=tuple(tasks_covered), signs=tuple(signs),
        walls=tuple(walls),
    )  # fmt: skip


def _base(scenario: Scenario) -> Submission:
    """A submission without trials; one of the samples on a quiet machine."""
    made = sample(tasks=FIXED_TASKS, prompts_per_task=scenario.per_task, blocks=1)
    arms = tuple(
        Arm(
            id=name,
            role="speculation",
            method=Method(type="draft-model", draft="tiny-q8-0", n_max=4),
            baseline="baseline",
        )
        if at
        else Arm(id=name, role="baseline", method=NO_SPECULATION)
        for at, name in enumerate(scenario.names)
    )
    return replace(
        made,
        arms=arms,
        trials=(),
        suite=replace(made.suite, prompts=tuple(_by_task(made.suite.prompts))),
        design=replace(made.design, blocks=scenario.blocks, interleaved="prompt"),
    )


def _by_task(prompts: Sequence[Prompt]) -> Iterator[Prompt]:
    """In the order of the fixed tasks, as the arrays have them."""
    return iter(sorted(prompts, key=lambda each: FIXED_TASKS.index(each.task)))


def _trials(base: Submission, times: Times) -> Iterator[Trial]:
    for (block, prompt, at), decode_ms in np.ndenumerate(times.decode):
        rounds = rounds_of(at)
        yield Trial(
            arm=base.arms[at].id,
            prompt=base.suite.prompts[prompt].id,
            block=block,
            order=int(times.order[block, prompt, at]),
            outcome="ok",
            output_tokens=TOKENS,
            decode_ms=float(decode_ms),
            rounds=rounds,
            drafted_histogram=(0, 0, 0, 0, rounds) if at else (rounds,),
            round_ms_median=(float(times.median[block, prompt, at]),),
        )


def _mean(flags: Iterator[bool]) -> float:
    found = list(flags)
    return float(np.mean(found)) if found else math.nan


if __name__ == "__main__":
    raise SystemExit(main())
