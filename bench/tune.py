"""Check that a tune finds the best depth, and "off" if nothing helps, on simulated rigs.

Each simulation draws a rig: the curve T(k) with or without a kernel step, the cost of drafting,
acceptance by task and position, noise per trial and a drift. Its tune takes the same steps as
`harness.tune`: one deep run, a forecast, a certificate on other prompts, decided by
`harness.tune.forecast` and the report's verdict. It prints these shares:
tunes whose pick is within 2 % of the best; tunes whose pick is that good or reported as
indistinguishable from the best; tunes that pick "off" where nothing helps; certified speedups that
are reproduced. It also prints the number of trials relative to a sweep over all depths.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from bench.tune_rigs import (
    KINDS,
    TASKS,
    TuneAnswers,
    TuneRig,
    answers,
    known,
    log_times,
)
from estimates.intervals import corrected, ratio_interval, time_ratio
from estimates.model import Interval
from estimates.verdicts import judge
from harness.campaign.builder import LEAST_BLOCKS
from harness.tune import forecast as forecasts
from harness.tune.forecast import Candidate
from harness.tune.search import BLOCKS, CERTIFIED
from schemas.vocabulary import say

Array = NDArray[np.float64]
# Logarithms of ms per token, by arm, prompt and block.
Times = dict[str, dict[tuple[str, int], float]]

COMMAND = "python -m bench.tune"
SIMULATIONS = 200
LOOK_PROMPTS, CERTIFICATE_PROMPTS = 1, 3
BASELINE = "baseline"
# The task of each of the certificate's prompts.
PROMPT_TASKS = {str(prompt): str(prompt % TASKS) for prompt in range(TASKS * CERTIFICATE_PROMPTS)}
NEAR = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRow:
    """Results for one kind of rig: shares of simulations, and trials relative to a sweep's."""

    rigs: str
    simulations: int
    near_best: float
    near_or_said: float
    said_off: float
    repeated: float  # the same prompts on another day
    repeated_elsewhere: float  # other prompts of these tasks
    trials: float
    most_trials: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """An arm's speedup over the certificate's prompts, with the report's interval and verdict."""

    arm: str
    speedup: float
    interval: Interval

    @property
    def helps(self) -> bool:
        return judge(self.interval) == "helps"


def _judged(times: Times, arm: str, tasks: Mapping[str, str], *, choices: int) -> Certified:
    """Judge an arm as the report does: by strata of tasks, corrected for the choice of an arm."""
    groups = _strata(times, arm, tasks)
    ratio, interval = time_ratio(groups), ratio_interval(groups)
    if interval is None:
        raise AssertionError("every task has several prompts")
    return Certified(arm=arm, speedup=ratio, interval=corrected(interval, ratio, choices))


def _strata(times: Times, arm: str, tasks: Mapping[str, str]) -> list[list[tuple[float, float]]]:
    """Return each prompt's ms per token, plain and with an arm, by task."""
    strata: dict[str, list[tuple[float, float]]] = {}
    for prompt in dict.fromkeys(prompt for prompt, _ in times[arm]):
        plain, own = (
            math.exp(median(ms for (each, _), ms in times[one].items() if each == prompt))
            for one in (BASELINE, arm)
        )
        strata.setdefault(tasks[prompt], []).append((plain, own))
    return [*strata.values()]


class Tune:
    """One tune of a rig; `trials` is the number of trials that it ran."""

    def __init__(self, truth: TuneRig, rng: np.random.Generator) -> None:
        self._truth, self._rng = truth, rng
        self.trials = 0

    def verdict(self) -> Certified:
        """Run the tune and return the best certified arm; each arm is a depth."""
        looked = answers(self._truth, [*range(TASKS)] * LOOK_PROMPTS, self._rng)
        self._certified = answers(self._truth, [*range(TASKS)] * CERTIFICATE_PROMPTS, self._rng)
        listed = forecasts.shortlist(
            [
                Candidate(id=str(depth), family="draft", depth=depth, predicted=predicted)
                for depth, predicted in self._forecast(looked).items()
            ],
            CERTIFIED,
        )
        arms = [each.id for each in listed]
        times = self._certificate(arms, self._certified)
        found = [_judged(times, arm, PROMPT_TASKS, choices=len(arms)) for arm in arms]
        return max(found, key=lambda each: (each.helps, each.speedup))

    def certify_again(self, arm: str, *, elsewhere: bool) -> float:
        """Return an arm's speedup on another day, on the same or other prompts of these tasks."""
        fresh = self._certified
        if elsewhere:
            fresh = answers(self._truth, [*range(TASKS)] * CERTIFICATE_PROMPTS, self._rng)
        return time_ratio(_strata(self._certificate([arm], fresh), arm, PROMPT_TASKS))

    def _certificate(self, arms: Sequence[str], fresh: TuneAnswers) -> Times:
        """Measure arms and the baseline."""
        times: Times = {}
        quiet = log_times(self._truth, fresh)
        for block, prompt in product(range(BLOCKS), range(quiet.shape[1])):
            for arm in self._rng.permutation([BASELINE, *arms]):
                self.trials += 1
                moved = self._truth.drift * self.trials / 300
                disturbed = moved + self._rng.normal(0, self._truth.noise)
                depth = 0 if arm == BASELINE else int(arm)
                log_ms = float(quiet[depth, prompt]) + disturbed
                times.setdefault(str(arm), {})[str(prompt), block] = log_ms
        return times

    def _forecast(self, found: TuneAnswers) -> dict[int, float]:
        """Forecast the speedup at each depth, from the deep run with the look's prompts."""
        prompts = found.accepted.shape[0]
        deepest = self._truth.deepest
        self.trials += prompts * (1 + max(1, len(self._truth.scouts)))
        costs = self._scouted(found) if self._truth.scouts else self._probed(found)
        drafts = [
            forecasts.Drafts(
                chances=forecasts.chances_from(accepted.tolist(), deepest), lengths=drafted.tolist()
            )
            for accepted, drafted in zip(found.accepted, found.lengths[deepest], strict=True)
        ]
        return dict(enumerate(forecasts.over_prompts(drafts, costs), start=1))

    def _scouted(self, found: TuneAnswers) -> tuple[float, ...]:
        """Estimate costs of rounds from runs at a few depths, as on a server without probes."""
        noise = self._truth.noise / math.sqrt(found.accepted.shape[0])
        measured = {}
        for depth in self._truth.scouts:
            lengths = found.lengths[depth].sum(axis=0)
            mean = float(lengths @ self._truth.costs[: len(lengths)] / lengths.sum())
            measured[depth] = mean * math.exp(self._rng.normal(0, noise))
        return forecasts.costs_from_rounds(measured, self._truth.deepest)

    def _probed(self, found: TuneAnswers) -> tuple[float, ...]:
        """Estimate costs of rounds from noisy probes of single steps and the deep run's total."""
        prompts, deepest = found.accepted.shape[0], self._truth.deepest
        lengths = found.lengths[deepest].sum(axis=0)
        known = self._truth.costs[: deepest + 1]
        probes = (known - self._truth.overhead) * np.exp(
            self._rng.normal(0, self._truth.probe_noise, deepest + 1)
        )
        disturbed = self._rng.normal(0, self._truth.noise / math.sqrt(prompts))
        return forecasts.costs_from_steps(
            [float(each) for each in probes],
            0.0,
            lengths=lengths.tolist(),
            measured=float(lengths @ known / lengths.sum()) * math.exp(disturbed),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTune:
    """One tune compared with the truth; `None` if a comparison does not apply."""

    near: bool
    said: bool
    off: bool | None
    repeated: bool
    repeated_elsewhere: bool
    trials: float


def tuned(kind: str, number: int, seed: int) -> FoundTune:
    """Simulate one tune on a rig of this kind, and compare it with the truth."""
    rng = np.random.default_rng([seed, KINDS.index(kind), number])
    truth, speedups = known(kind, rng)
    tune = Tune(truth, rng)
    verdict = tune.verdict()
    pick = int(verdict.arm) if verdict.helps else 0
    sweep = (truth.deepest + 1) * TASKS * (LOOK_PROMPTS + CERTIFICATE_PROMPTS) * LEAST_BLOCKS
    trials = tune.trials / sweep
    near = bool(speedups[pick] >= speedups.max() * (1 - NEAR))
    low, high = verdict.interval.low, verdict.interval.high
    margin = 0.0 if verdict.helps else math.log(max(high, 1 / low, 1.0))
    again = [
        low <= tune.certify_again(verdict.arm, elsewhere=elsewhere) <= high
        for elsewhere in (False, True)
    ]
    return FoundTune(
        near=near,
        said=near or bool(math.log(speedups.max() / speedups[pick]) <= margin),
        off=pick == 0 if speedups[1:].max() <= 1 else None,
        repeated=again[0],
        repeated_elsewhere=again[1],
        trials=trials,
    )


def simulate(kind: str, simulations: int, seed: int) -> TuneRow:
    """Simulate tunes on rigs of one kind."""
    found = [tuned(kind, number, seed) for number in range(simulations)]
    return TuneRow(
        rigs=kind,
        simulations=simulations,
        near_best=_share([each.near for each in found]),
        near_or_said=_share([each.said for each in found]),
        said_off=_share([each.off for each in found]),
        repeated=_share([each.repeated for each in found]),
        repeated_elsewhere=_share([each.repeated_elsewhere for each in found]),
        trials=float(np.mean([each.trials for each in found])),
        most_trials=max(each.trials for each in found),
    )


def _share(answered: Sequence[bool | None]) -> float:
    known = [each for each in answered if each is not None]
    return sum(known) / len(known) if known else math.nan


def table(rows: Sequence[dict[str, float]]) -> str:
    """The table for the design note, in Markdown."""
    head = (
        "| rigs | tunes | within 2 % | or said so | off, nothing helps | found again | elsewhere "
        "| trials | most |"
    )
    lines = [head, "|---" + 8 * "|---:" + "|"]
    for row in rows:
        off = say.UNKNOWN if math.isnan(row["said_off"]) else f"{row['said_off']:.1%}"
        lines.append(
            f"| {row['rigs']} | {row['simulations']} | {row['near_best']:.1%} | "
            f"{row['near_or_said']:.1%} | {off} | {row['repeated']:.1%} | "
            f"{row['repeated_elsewhere']:.1%} | {row['trials']:.0%} | {row['most_trials']:.0%} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write the figures with `--output`."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "--simulations", type=int, default=SIMULATIONS, help="simulations for each kind of rig"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    rows = [asdict(simulate(kind, chosen.simulations, chosen.seed)) for kind in KINDS]
    sys.stdout.write(table(rows))
    if chosen.output:
        document = {"command": COMMAND, "seed": chosen.seed, "rows": rows}
        chosen.output.write_text(json.dumps(document, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
