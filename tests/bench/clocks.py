"""Which clock? Campaigns with injected stalls whose cost is known.

A baseline with rounds of 20 ms and an arm with rounds of 60 ms that yield 2.4 tokens each: 0.8
times as fast, whatever stalls, because a stall hits both in proportion to their time.
`python -m tests.bench.clocks` prints for three clocks how far they are off, how often their
interval contains that truth and the ratio by the wall clock, and its half-width; last the same as
it is published: with the error of the steady clock's excess, and reaching as far as the wall clock.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from estimates.intervals import t_quantile
from estimates.pairing import median_half_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Logs = NDArray[np.float64]

CAMPAIGNS = 300
TASKS, TOKENS = 8, 96
# Prompts of each task, and blocks: a default campaign, and the least that there is.
DESIGNS = {"4 x 3": (4, 3), "1 x 1": (1, 1)}
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
    heads += ("published", "half-width")
    yield f"{'stalls':32}{'design':8}{'clock':10}" + "".join(f"{head:>15}" for head in heads)
    for (name, stalls), (design, shape) in product(SCENARIOS.items(), DESIGNS.items()):
        rng = np.random.default_rng(20261121)
        drawn = [_campaign(rng, stalls, *shape) for _ in range(campaigns)]
        logs = {clock: np.stack([each[clock] for each in drawn]) for clock in CLOCKS}
        wall = logs["wall"].mean(axis=(1, 2))
        for clock in CLOCKS:
            centre = logs[clock].mean(axis=(1, 2))
            means = logs[clock].mean(axis=2)
            reach = means.std(axis=1, ddof=1) / math.sqrt(TASKS) * t_quantile(TASKS - 1, 0.975)
            error = np.array([each["error"] for each in drawn]) if clock == "steady" else 0.0
            published = np.hypot(reach, error)
            low = np.minimum(centre - published, wall)
            high = np.maximum(centre + published, wall)
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
            yield f"{name:32}{design:8}{clock:10}{shown}"


def _campaign(
    rng: np.random.Generator, stalls: Stalls, per_task: int, blocks: int
) -> dict[str, Logs]:
    """Log ratios by task and prompt: the median over blocks, by each clock; and `error`."""
    own = rng.normal(scale=SPREAD, size=(TASKS * per_task, 1))
    base_wall, base_median = _arm(rng, stalls, STEP_MS, TOKENS, np.repeat(0 * own, blocks, axis=1))
    arm_wall, arm_median = _arm(
        rng, stalls, ROUND_MS, round(TOKENS / YIELD), np.repeat(-own, blocks, axis=1)
    )
    tokens_ratio = math.log(round(TOKENS / YIELD) * YIELD / TOKENS)
    excesses = base_wall / base_median, arm_wall / arm_median
    base_excess, arm_excess = (float(np.median(each)) for each in excesses)
    found = {
        "wall": np.log(base_wall / arm_wall),
        "medians": np.log(base_median / arm_median),
        "steady": np.log(base_median * base_excess / (arm_median * arm_excess)),
    }
    by_clock = {
        clock: np.median(logs + tokens_ratio, axis=1).reshape(TASKS, per_task)
        for clock, logs in found.items()
    }
    errors = [median_half_width(np.log(each).ravel().tolist()) for each in excesses]
    return {**by_clock, "error": np.array(math.hypot(*errors))}


def _arm(
    rng: np.random.Generator, stalls: Stalls, round_ms: float, rounds: int, logs: Logs
) -> tuple[Logs, Logs]:
    """Per prompt and block the sum of the rounds, and the median round times their number."""
    shape = (*logs.shape, rounds)
    plain = round_ms * np.exp(logs)[:, :, None] * (1 + rng.normal(scale=NOISE, size=shape))
    count = rng.poisson(stalls.per_second * plain / 1000)
    stalled = rng.random((*logs.shape, 1)) < stalls.trials
    times = plain + count * stalls.ms * rng.gamma(4, 0.25, size=shape) * stalled
    return times.sum(axis=2), np.median(times, axis=2) * rounds


if __name__ == "__main__":
    main()
