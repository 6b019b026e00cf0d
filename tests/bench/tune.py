"""Does a tune find the best depth, and say "off" where nothing helps? Simulations with known truth.

Each simulation draws a rig: the curve T(k) with or without a step of its kernels, what drafting
costs, acceptance by task and position, noise of a trial, a drift. A tune of it takes the same steps
as `harness.tune`: one deep run, a forecast, a race, a certificate on other prompts, all decided by
`estimates.forecast` and `estimates.tuning`. `python -m tests.bench.tune` prints how often its pick
is within 2 % of the best, and how many of the trials of a sweep over all depths it needed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from estimates import forecast as forecasts
from estimates import tuning
from estimates.forecast import Candidate
from harness.campaign.build import LEAST_BLOCKS
from schemas.vocabulary import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Counts = NDArray[np.int64]

COMMAND = "python -m tests.bench.tune"
SIMULATIONS = 200
DEEPEST, TASKS, TOKENS = 16, 8, 96
RACE_PROMPTS, CERTIFICATE_PROMPTS, TRUTH_PROMPTS = 1, 3, 24
BASELINE = "baseline"
NEAR = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """The truth: costs in tokens of the baseline, chances by task, noise as log deviations."""

    costs: Array  # of a round by drafted length
    chances: Array  # by task, of the first position
    fall: float  # factor from one position to the next
    noise: float
    drift: float  # over the whole tune
    probe_noise: float = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of rig: shares of simulations, and trials as a share of the sweep's."""

    rigs: str
    simulations: int
    near_best: float
    said_off: float
    trials: float
    most_trials: float


def rig(kind: str, rng: np.random.Generator) -> Rig:
    """A rig of a kind, drawn at random."""
    width_cost = rng.uniform(0.02, 0.18)
    draft = rng.uniform(0.0, 0.22)
    middle, fall = rng.uniform(0.6, 0.9), 1.0
    steps = 1 + width_cost * np.arange(DEEPEST + 1)
    if kind == "a kernel step in T(k)":
        steps[rng.integers(3, 10) :] *= rng.uniform(1.15, 1.6)
    elif kind == "acceptance falls with depth":
        fall = rng.uniform(0.8, 0.95)
    elif kind == "nearly equal depths":
        width_cost, draft = rng.uniform(0.08, 0.14), rng.uniform(0.02, 0.06)
        steps = 1 + width_cost * np.arange(DEEPEST + 1)
    elif kind == "nothing helps":
        middle, draft = rng.uniform(0.15, 0.5), rng.uniform(0.25, 0.6)
        steps = 1 + rng.uniform(0.15, 0.4) * np.arange(DEEPEST + 1)
    return Rig(
        costs=steps + draft * np.arange(DEEPEST + 1),
        chances=np.clip(middle + rng.normal(0, rng.uniform(0.02, 0.15), TASKS), 0.05, 0.97),
        fall=fall,
        noise=rng.uniform(0.01, 0.06),
        drift=rng.uniform(-0.3, 0.3) if kind == "a drift" else 0.0,
    )


KINDS = (
    "any",
    "nearly equal depths",
    "a kernel step in T(k)",
    "acceptance falls with depth",
    "a drift",
    "a gain of 5 to 12 %",
    "nothing helps",
    "a loss of 0 to 3 %",
)
# Kinds whose best speedup is set: between these two.
BEST = {"a gain of 5 to 12 %": (1.05, 1.12), "a loss of 0 to 3 %": (0.97, 1.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What every depth does on some prompts: rounds by drafted length, and accepted ones deepest.

    A draft agrees with the text at a place or not, whatever the depth: depths differ by where their
    rounds begin.
    """

    lengths: Counts  # depth, prompt, drafted length
    accepted: Counts  # of the largest depth: prompt, accepted length


def answers(truth: Rig, tasks: Sequence[int], rng: np.random.Generator) -> Answers:
    """Answers of 96 tokens to prompts of these tasks."""
    prompts = len(tasks)
    chance = truth.chances[list(tasks)][:, None]
    draws = rng.random((prompts, TOKENS + DEEPEST + 1))
    run = np.zeros((prompts, TOKENS), dtype=np.int64)
    going = np.ones((prompts, TOKENS), dtype=bool)
    for place in range(DEEPEST):
        going &= draws[:, place : place + TOKENS] < chance * truth.fall**place
        run += going
    lengths = np.zeros((DEEPEST + 1, prompts, DEEPEST + 1), dtype=np.int64)
    accepted = np.zeros((prompts, DEEPEST + 1), dtype=np.int64)
    for depth in range(1, DEEPEST + 1):
        at = np.ones(prompts, dtype=np.int64)
        while (live := np.flatnonzero(at < TOKENS)).size:
            drafted = np.minimum(depth, TOKENS - at[live] - 1)
            right = np.minimum(run[live, at[live]], drafted)
            lengths[depth, live, drafted] += 1
            if depth == DEEPEST:
                accepted[live, right] += 1
            at[live] += right + 1
    return Answers(lengths=lengths, accepted=accepted)


def log_times(truth: Rig, found: Answers) -> Array:
    """Log time per token, by depth (0 is the baseline) and prompt, on a quiet machine."""
    spent = found.lengths @ truth.costs
    spent[0] = TOKENS - 1
    logs: Array = np.log(spent / (TOKENS - 1))
    return logs


def true_speedups(truth: Rig, rng: np.random.Generator) -> Array:
    """The speedup of every depth over many prompts of each task."""
    found = answers(truth, [task for task in range(TASKS) for _ in range(TRUTH_PROMPTS)], rng)
    speedups: Array = np.exp(-log_times(truth, found).mean(axis=1))
    return speedups


class Tune:
    """One tune of a rig; `trials` counts what it ran."""

    def __init__(self, truth: Rig, rng: np.random.Generator) -> None:
        self._truth, self._rng = truth, rng
        self.trials = 0

    def pick(self) -> int:
        """The depth that the tune ends with; 0 is no speculation."""
        racing = answers(self._truth, [*range(TASKS)] * RACE_PROMPTS, self._rng)
        fresh = answers(self._truth, [*range(TASKS)] * CERTIFICATE_PROMPTS, self._rng)
        predicted = self._forecast(racing)
        listed = forecasts.shortlist(
            [
                Candidate(id=str(d), family="draft", depth=d, predicted=p)
                for d, p in predicted.items()
            ],
            tuning.RACED,
        )
        by_id = {each.id: each.predicted or 0.0 for each in listed}
        race: dict[str, dict[tuple[str, int], float]] = {}
        running = list(by_id)
        ranked: tuple[str, ...] = tuple(running)
        for block in range(tuning.RACE_BLOCKS):
            self._block(race, [BASELINE, *running], log_times(self._truth, racing), block)
            state = tuning.standing(race, by_id, running=running, baseline=BASELINE)
            running = [arm for arm in running if arm not in state.dropped]
            ranked = tuple(arm for arm in state.ranked if arm in running)
            if state.decided:
                break
        tasks = {str(number): str(number % TASKS) for number in range(TASKS * CERTIFICATE_PROMPTS)}
        best, rival = ranked[0], next(iter(ranked[1:]), None)
        certificate: dict[str, dict[tuple[str, int], float]] = {}
        arms = [arm for arm in (BASELINE, best, rival) if arm is not None]
        for block in range(tuning.CERTIFICATE_BLOCKS):
            self._block(certificate, arms, log_times(self._truth, fresh), block)
        verdict = tuning.settle(
            race, certificate, best=best, rival=rival, baseline=BASELINE, tasks=tasks
        )
        return int(verdict.pick) if verdict is not None and verdict.pick is not None else 0

    def _forecast(self, found: Answers) -> dict[int, float]:
        """Depths by forecast, from the deep run over the race's prompts and noisy probes."""
        prompts = found.accepted.shape[0]
        self.trials += 2 * prompts
        lengths = found.lengths[DEEPEST].sum(axis=0)
        probes = self._truth.costs * np.exp(
            self._rng.normal(0, self._truth.probe_noise, DEEPEST + 1)
        )
        disturbed = self._rng.normal(0, self._truth.noise / math.sqrt(prompts))
        costs = forecasts.costs_from_steps(
            [float(each) for each in probes],
            0.0,
            lengths=lengths.tolist(),
            measured=float(lengths @ self._truth.costs / lengths.sum()) * math.exp(disturbed),
        )
        chances = forecasts.chances_from(found.accepted.sum(axis=0).tolist(), DEEPEST)
        speedups = forecasts.forecast(chances, lengths.tolist(), costs)
        return dict(enumerate(speedups, start=1))

    def _block(
        self,
        times: dict[str, dict[tuple[str, int], float]],
        arms: Sequence[str],
        quiet: Array,
        block: int,
    ) -> None:
        for prompt in range(quiet.shape[1]):
            for arm in self._rng.permutation(list(arms)):
                self.trials += 1
                moved = self._truth.drift * self.trials / 300
                disturbed = moved + self._rng.normal(0, self._truth.noise)
                depth = 0 if arm == BASELINE else int(arm)
                log_ms = float(quiet[depth, prompt]) + disturbed
                times.setdefault(str(arm), {})[str(prompt), block] = log_ms


def simulate(kind: str, simulations: int, seed: int) -> Row:
    """So many tunes of rigs of one kind."""
    near = off = helpless = 0
    trials: list[float] = []
    sweep = (DEEPEST + 1) * TASKS * (RACE_PROMPTS + CERTIFICATE_PROMPTS) * LEAST_BLOCKS
    for number in range(simulations):
        rng = np.random.default_rng([seed, KINDS.index(kind), number])
        truth = rig(kind, rng)
        speedups = true_speedups(truth, rng)
        if kind in BEST:
            factor = speedups[1:].max() / rng.uniform(*BEST[kind])
            truth = replace(truth, costs=truth.costs * factor)
            speedups[1:] /= factor
        tune = Tune(truth, rng)
        pick = tune.pick()
        near += bool(speedups[pick] >= speedups.max() * (1 - NEAR))
        helpless += bool(speedups[1:].max() <= 1)
        off += bool(pick == 0 and speedups[1:].max() <= 1)
        trials.append(tune.trials / sweep)
    return Row(
        rigs=kind,
        simulations=simulations,
        near_best=near / simulations,
        said_off=off / helpless if helpless else math.nan,
        trials=float(np.mean(trials)),
        most_trials=max(trials),
    )


def table(rows: Sequence[dict[str, float]]) -> str:
    """The table of the design note."""
    lines = [
        "| rigs | tunes | pick within 2 % of the best | off where nothing helps | trials | most |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        off = say.UNKNOWN if math.isnan(row["said_off"]) else f"{row['said_off']:.1%}"
        lines.append(
            f"| {row['rigs']} | {row['simulations']} | {row['near_best']:.1%} | {off} | "
            f"{row['trials']:.0%} | {row['most_trials']:.0%} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write the figures where that is asked for."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="for each kind of rig")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="where to write the figures as JSON")
    chosen = parser.parse_args(arguments)
    rows = [asdict(simulate(kind, chosen.simulations, chosen.seed)) for kind in KINDS]
    sys.stdout.write(table(rows))
    if chosen.output:
        document = {"command": COMMAND, "seed": chosen.seed, "rows": rows}
        chosen.output.write_text(json.dumps(document, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
