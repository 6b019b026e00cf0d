"""Do the intervals of a campaign keep their promise, whatever the machine does? Truth: 1.0 exactly.

`python -m tests.bench.campaigns` draws campaigns of a baseline and arms that are as fast: prompts
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
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from estimates.intervals import CONFIDENCE, t_quantile
from estimates.pairing import pair
from estimates.ratios import scopes
from estimates.running_order import running_order
from estimates.summary import published, wall_speedup
from estimates.verdicts import judge
from schemas.submission import Arm, DraftModel, NoSpeculation, Prompt, Submission, Trial
from schemas.vocabulary import FIXED_TASKS
from tests.samples import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Logs = NDArray[np.float64]
    Speed = Callable[[np.random.Generator, int], Logs]

CAMPAIGNS, SEED = 1000, 20261121
TOKENS, STEP_MS = 97, 20.0
# An arm's round yields 2.4 tokens and takes as long as 2.4 plain ones.
ROUNDS = {"baseline": 96, "arm": 40}
ROUND_NOISE, TRIAL_NOISE, DRIFT = 0.02, 0.02, 0.30
COVERED, FALSE_SIGNS, WIDER = 0.93, 0.03, 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """So many per second of computing, of so many milliseconds, in so many of the trials."""

    per_second: float = 0.0
    ms: float = 0.0
    trials: float = 1.0


def steady(_: np.random.Generator, count: int) -> Logs:
    """The machine does not change."""
    return np.zeros(count)


def linear(_: np.random.Generator, count: int) -> Logs:
    """It becomes slower by 30 % from the first trial to the last."""
    return np.log1p(DRIFT * np.arange(count) / count)


def slow(rng: np.random.Generator, count: int) -> Logs:
    """It wanders: a random walk of 2 % a trial."""
    return np.cumsum(rng.normal(scale=0.02, size=count))


def two_modes(stay: float) -> Speed:
    """Two speeds, 40 % apart; after each trial it stays with this probability."""

    def speed(rng: np.random.Generator, count: int) -> Logs:
        changes = rng.random(count) > stay
        return math.log(1.4) * ((np.cumsum(changes) + rng.integers(2)) % 2)

    return speed


def periodic(period: int) -> Speed:
    """Slow and fast within so many trials."""

    def speed(rng: np.random.Generator, count: int) -> Logs:
        wave = np.sin(2 * math.pi * (np.arange(count) / period + rng.random()))
        return np.log1p(DRIFT / 2 * wave)

    return speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A design and what disturbs it; `spread` and `offset` are what prompts and tasks differ by.

    `uneven`: the spread of each task is drawn between a third and three times of it. `signs`: the
    share of tasks that may show one; that of a 95 % interval where nothing can be known better.
    """

    arms: int = 2
    per_task: int = 4
    blocks: int = 3
    spread: float = 0.05
    uneven: bool = False
    offset: float = 0.0
    speed: Speed = steady
    stalls: Stalls = field(default_factory=Stalls)
    signs: float = FALSE_SIGNS


QUIET = "quiet"
SCENARIOS = {
    QUIET: Scenario(),
    "prompts differ by 10 %": Scenario(spread=0.10),
    "prompts differ by 30 %": Scenario(spread=0.30, signs=1 - CONFIDENCE),
    "tasks differ in their spread": Scenario(uneven=True),
    "one block": Scenario(blocks=1),
    "two prompts a task": Scenario(per_task=2),
    "one prompt a task, one block": Scenario(per_task=1, blocks=1),
    **{f"shared offset of a task, {o:.0%}": Scenario(offset=o) for o in (0.02, 0.05, 0.10)},
    "linear drift of 30 %": Scenario(speed=linear),
    "slow drift": Scenario(speed=slow),
    "two speeds, for 10 trials": Scenario(speed=two_modes(0.9)),
    "two speeds, drawn each trial": Scenario(speed=two_modes(0.5)),
    **{f"drift of {p} trials": Scenario(speed=periodic(p)) for p in range(2, 9)},
    **{f"drift of {p} trials, 3 arms": Scenario(arms=3, speed=periodic(p)) for p in range(2, 9)},
    "drift of 4 trials, one block": Scenario(blocks=1, speed=periodic(4), signs=1 - CONFIDENCE),
    "ticks: 2 ms, 15 a second": Scenario(stalls=Stalls(per_second=15, ms=2.0)),
    "stalls: 40 ms, 2 a second": Scenario(stalls=Stalls(per_second=2, ms=40.0)),
    "the same, 1 prompt, 1 block": Scenario(
        per_task=1, blocks=1, stalls=Stalls(per_second=2, ms=40.0)
    ),
    "stalls: 400 ms, 1 in 5 s": Scenario(stalls=Stalls(per_second=0.2, ms=400.0)),
    "a tenth of trials: 1 s stalls": Scenario(stalls=Stalls(per_second=0.7, ms=1000.0, trials=0.1)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Milliseconds by block, prompt and arm: of all rounds, and of the median one; the place."""

    decode: Logs
    median: Logs
    order: Logs


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
    parser = argparse.ArgumentParser(prog="python -m tests.bench.campaigns", description=__doc__)
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
    if row.false_signs > SCENARIOS[name].signs:
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
        before.append(_within(measured(rng, scenario, truths, by_turns=True)))
        now.append(_judged(base, measured(rng, scenario, truths, by_turns=False), truths))
    return Row(
        _mean(abs(centre) <= half for centre, half in before if not math.isnan(half)),
        float(np.mean([each.covered for each in now])),
        _mean(flag for each in now for flag in each.tasks_covered),
        _mean(flag for each in now for flag in each.signs),
        _mean(flag for each in now for flag in each.walls),
        math.expm1(float(np.median([half for _, half in before]))),
        math.expm1(float(np.median([each.half for each in now]))),
    )


def measured(
    rng: np.random.Generator, scenario: Scenario, truths: Logs, *, by_turns: bool
) -> Times:
    """The times of one campaign in the order that its seed gives."""
    arms, prompts = _arms(scenario), len(FIXED_TASKS) * scenario.per_task
    order = running_order(
        arms, [str(at) for at in range(prompts)], blocks=scenario.blocks,
        seed=int(rng.integers(2**31)), interleaved="prompt", by_turns=by_turns,
    )  # fmt: skip
    places = np.array([(block, int(prompt), arms.index(arm)) for block, prompt, arm in order])
    shape = (scenario.blocks, prompts, scenario.arms)
    machine, place = np.empty(shape), np.empty(shape)
    place[tuple(places.T)] = np.arange(len(places))
    noise = rng.normal(scale=TRIAL_NOISE, size=len(places))
    machine[tuple(places.T)] = scenario.speed(rng, len(places)) + noise
    spread = scenario.spread * np.ones(len(FIXED_TASKS))
    if scenario.uneven:
        spread *= 3 ** rng.uniform(-1, 1, size=len(FIXED_TASKS))
    own = np.repeat(truths, scenario.per_task) + np.repeat(spread, scenario.per_task) * rng.normal(
        size=prompts
    )
    decode, median = np.empty(shape), np.empty(shape)
    for at in range(scenario.arms):
        logs = machine[:, :, at] - (own if at else 0.0)
        decode[:, :, at], median[:, :, at] = _rounds(rng, scenario.stalls, logs, _rounds_of(at))
    return Times(decode=decode, median=median, order=place)


def _arms(scenario: Scenario) -> list[str]:
    return ["baseline", *(f"arm-{at}" for at in range(1, scenario.arms))]


def _rounds_of(arm: int) -> int:
    return ROUNDS["arm" if arm else "baseline"]


def _rounds(rng: np.random.Generator, stalls: Stalls, logs: Logs, rounds: int) -> tuple[Logs, Logs]:
    """The sum of the rounds with their stalls, and the median one."""
    shape = (*logs.shape, rounds)
    round_ms = STEP_MS * (TOKENS - 1) / rounds * np.exp(logs)
    times = round_ms[..., None] * (1 + rng.normal(scale=ROUND_NOISE, size=shape))
    if stalls.per_second:
        stalled = rng.random((*logs.shape, 1)) < stalls.trials
        count = rng.poisson(stalls.per_second * times / 1000)
        times += count * stalls.ms * rng.gamma(4, 0.25, size=shape) * stalled
    return times.sum(axis=-1), np.median(times, axis=-1)


def _within(times: Times) -> tuple[float, float]:
    """Centre and half-width over all tasks by the first version (Welch, Satterthwaite)."""
    rounds = np.array([_rounds_of(at) for at in range(2)])
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
            method=DraftModel(draft="tiny-q8-0", n_max=4),
            baseline="baseline",
        )
        if at
        else Arm(id=name, role="baseline", method=NoSpeculation())
        for at, name in enumerate(_arms(scenario))
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
        rounds = _rounds_of(at)
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
