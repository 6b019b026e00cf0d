"""Check that a comparison of two builds finds a slowdown of 5 % and raises no false alarm.

`make bench-numbers` includes this check; `python -m bench.builds` runs only this check. Whole
comparisons are simulated with the noise of real machines. After every block, the simulated
comparisons are judged by the code that judges real comparisons.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from estimates.running_order import running_order
from harness.compare.command import BLOCKS
from harness.compare.comparison import FAIL_BELOW, FEWEST_BLOCKS, PRECISE, judge, level_of, tests_of
from harness.compare.paired_blocks import block_means

COMPARISONS, ARMS, PROMPTS = 2000, 3, 8
LEVEL = level_of(tests_of(ARMS, ARMS - 1))
ENGINES = ("base", "head")

Verdict = Literal["slower", "no-difference", "unclear", "faster"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildMachine:
    """The noise of log times on one machine: standard deviations, and slow changes of its speed.

    `a_pass` is the noise that all trials of one server start share; `trial` is the independent
    noise of each trial. `walk` is the change of the machine's speed from one pass to the next,
    `trend` the machine's slowdown over the whole comparison. `stalls` is the share of trials that
    take up to twice as long.
    """

    a_pass: float
    trial: float
    walk: float = 0.0
    trend: float = 0.0
    stalls: float = 0.0


MACHINES = {
    "quiet server": BuildMachine(a_pass=0.003, trial=0.005, walk=0.001),
    "laptop that heats up": BuildMachine(a_pass=0.008, trial=0.02, walk=0.003, trend=0.15),
    "desktop in use": BuildMachine(a_pass=0.01, trial=0.03, walk=0.01, stalls=0.03),
    "shared runner": BuildMachine(a_pass=0.015, trial=0.04, walk=0.015, trend=0.05, stalls=0.05),
}


def verdicts(
    machine: BuildMachine, *, slowdown: float, comparisons: int, seed: int = 1
) -> dict[Verdict, float]:
    """Return the share of each verdict if the head build is slower by `slowdown` in every arm."""
    rng = np.random.default_rng(seed)
    logs = _log_ratios(machine, rng, comparisons) + math.log(1 - slowdown)
    weights = np.full(PROMPTS, 1 / PROMPTS)
    looks = [block_means(logs[..., : n + 1], weights) for n in range(FEWEST_BLOCKS - 1, BLOCKS)]
    counted = Counter(_verdict(arms) for arms in zip(*looks, strict=True))
    return {name: counted[name] / comparisons for name in VERDICTS}


def _verdict(looks: Sequence[NDArray[np.float64]]) -> Verdict:
    """Judge as `BuildComparison` does, at the first look with all arms precise, else the last."""
    for arms in looks:
        judged = [judge(means, LEVEL, FAIL_BELOW) for means in arms]
        if all(each and each.log_half_width <= PRECISE for _, each, _ in judged):
            break
    found = {direction for _, _, direction in judged}
    if found & {"lower", "unclear"}:
        return "slower" if "lower" in found else "unclear"
    return "faster" if "higher" in found else "no-difference"


def _log_ratios(
    machine: BuildMachine, rng: np.random.Generator, comparisons: int
) -> NDArray[np.float64]:
    """Draw log(head / base speed) for equal builds: comparisons x arms x prompts x blocks."""
    passes = BLOCKS * ARMS * len(ENGINES)
    steps = rng.normal(0, machine.walk, (comparisons, passes))
    moves = np.cumsum(steps, axis=1) + np.linspace(0, machine.trend, passes)
    moves += rng.normal(0, machine.a_pass, (comparisons, passes))
    trials = moves[..., None] + rng.normal(0, machine.trial, (comparisons, passes, PROMPTS))
    stalled = rng.random(trials.shape) < machine.stalls
    trials += stalled * np.log1p(rng.random(trials.shape))
    # Each arm's passes with the two engines follow each other, in the order drawn below.
    shaped = trials.reshape(comparisons, BLOCKS, ARMS, len(ENGINES), PROMPTS)
    signs = np.stack([_signs(seed) for seed in range(comparisons)])
    ratios = (shaped[..., 1, :] - shaped[..., 0, :]) * signs[..., None]
    return np.moveaxis(ratios, 1, -1)


def _signs(seed: int) -> NDArray[np.float64]:
    """Return 1 where `engine_orders` runs the head build first, else -1: blocks x arms."""
    drawn = [
        [
            engine
            for _, _, engine in running_order(
                ENGINES, [""], blocks=BLOCKS, seed=seed * ARMS + arm, interleaved="block"
            )
        ][:: len(ENGINES)]
        for arm in range(ARMS)
    ]
    return np.where(np.asarray(drawn).T == "head", 1.0, -1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate comparisons; print the share of each verdict for each machine and slowdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.builds", description=__doc__)
    parser.add_argument("--comparisons", type=int, default=COMPARISONS)
    count = parser.parse_args(arguments).comparisons
    heads = "".join(f"{name:>15}" for name in VERDICTS)
    sys.stdout.write(f"{'':24}{'slowdown':>10}{heads}\n")
    for name, machine in MACHINES.items():
        for slowdown in (0.0, 0.02, 0.05):
            found = verdicts(machine, slowdown=slowdown, comparisons=count)
            shares = "".join(f"{each:>15.1%}" for each in found.values())
            sys.stdout.write(f"{name:24}{slowdown:>10.0%}{shares}\n")


if __name__ == "__main__":
    main()
