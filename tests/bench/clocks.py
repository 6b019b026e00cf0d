"""Which clock? Campaigns with injected stalls whose cost is known.

A baseline with rounds of 20 ms and an arm with rounds of 60 ms that yield 2.4 tokens each: 0.8
times as fast, whatever stalls, because a stall hits both in proportion to their time.
`python -m tests.bench.clocks` prints for three clocks how far they are off, how often their
interval contains that truth and the ratio by the wall clock, and its half-width.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from estimates.intervals import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Logs = NDArray[np.float64]

CAMPAIGNS = 300
TASKS, PER_TASK, BLOCKS, TOKENS = 8, 4, 3, 96
STEP_MS, ROUND_MS, YIELD = 20.0, 60.0, 2.4
NOISE, SPREAD = 0.02, 0.05
TRUTH = math.log(STEP_MS * YIELD / ROUND_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """So many stalls per second of computing, each of so many milliseconds on average.

    `trials`: the share of trials that stall at all.
    """

    per_second: float = 0.0
    ms: float = 0.0
    trials: float = 1.0


SCENARIOS = {
    "quiet": Stalls(),
    "ticks: 2 ms, 15 a second": Stalls(per_second=15, ms=2.0),
    "ticks: 5 ms, 6 a second": Stalls(per_second=6, ms=5.0),
    "stalls: 40 ms, 2 a second": Stalls(per_second=2, ms=40.0),
    "stalls: 400 ms, 1 in 5 s": Stalls(per_second=0.2, ms=400.0),
    "a tenth of trials: 1 s stalls": Stalls(per_second=0.7, ms=1000.0, trials=0.1),
}
CLOCKS = ("wall", "medians", "steady")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clocks", description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="per scenario")
    chosen = parser.parse_args(arguments)
    sys.stdout.write("\n".join(table(chosen.campaigns)) + "\n")


def table(campaigns: int) -> Iterator[str]:
    """Bias, coverage of the truth and of the wall-clock ratio, and half-width."""
    heads = ("bias", "95 % error", "covers truth", "contains wall", "half-width")
    heads += ("truth, reached", "half-width")
    yield f"{'stalls':32}{'clock':10}" + "".join(f"{head:>15}" for head in heads)
    for name, stalls in SCENARIOS.items():
        rng = np.random.default_rng(20261121)
        drawn = [_campaign(rng, stalls) for _ in range(campaigns)]
        logs = {clock: np.stack([each[clock] for each in drawn]) for clock in CLOCKS}
        wall = logs["wall"].mean(axis=(1, 2))
        for clock in CLOCKS:
            centre = logs[clock].mean(axis=(1, 2))
            means = logs[clock].mean(axis=2)
            reach = means.std(axis=1, ddof=1) / math.sqrt(TASKS) * t_quantile(TASKS - 1, 0.975)
            low = np.minimum(centre - reach, wall)
            high = np.maximum(centre + reach, wall)
            row = (
                math.expm1(float(np.mean(centre - TRUTH))),
                math.expm1(float(np.quantile(np.abs(centre - TRUTH), 0.95))),
                float(np.mean(np.abs(centre - TRUTH) <= reach)),
                float(np.mean(np.abs(centre - wall) <= reach)),
                math.expm1(float(np.median(reach))),
                float(np.mean((low <= TRUTH) & (high >= TRUTH))),
                math.expm1(float(np.median((high - low) / 2))),
            )
            shown = "".join(f"{value:>15.3f}" for value in row)
            yield f"{name:32}{clock:10}{shown}"


def _campaign(rng: np.random.Generator, stalls: Stalls) -> dict[str, Logs]:
    """Log ratios by task and prompt: the median over blocks, by each clock."""
    own = rng.normal(scale=SPREAD, size=TASKS * PER_TASK)
    base_wall, base_median = _arm(rng, stalls, STEP_MS, TOKENS, np.zeros_like(own))
    arm_wall, arm_median = _arm(rng, stalls, ROUND_MS, round(TOKENS / YIELD), -own)
    tokens_ratio = math.log(round(TOKENS / YIELD) * YIELD / TOKENS)
    base_excess, arm_excess = (
        float(np.median(wall / medians))
        for wall, medians in ((base_wall, base_median), (arm_wall, arm_median))
    )
    found = {
        "wall": np.log(base_wall / arm_wall),
        "medians": np.log(base_median / arm_median),
        "steady": np.log(base_median * base_excess / (arm_median * arm_excess)),
    }
    return {
        clock: np.median(logs + tokens_ratio, axis=1).reshape(TASKS, PER_TASK)
        for clock, logs in found.items()
    }


def _arm(
    rng: np.random.Generator, stalls: Stalls, round_ms: float, rounds: int, logs: Logs
) -> tuple[Logs, Logs]:
    """Per prompt and block the sum of the rounds, and the median round times their number."""
    shape = (len(logs), BLOCKS, rounds)
    plain = round_ms * np.exp(logs)[:, None, None] * (1 + rng.normal(scale=NOISE, size=shape))
    count = rng.poisson(stalls.per_second * plain / 1000)
    stalled = rng.random((len(logs), BLOCKS, 1)) < stalls.trials
    times = plain + count * stalls.ms * rng.gamma(4, 0.25, size=shape) * stalled
    return times.sum(axis=2), np.median(times, axis=2) * rounds


if __name__ == "__main__":
    main()
