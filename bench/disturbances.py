"""The disturbances that campaigns are simulated under, and the times of their trials.

A baseline and arms that are exactly as fast: an arm's round yields 2.4 tokens and takes as long as
2.4 plain ones. Whatever disturbs hits both in proportion to their time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from estimates.running_order import running_order
from schemas.vocabulary import FIXED_TASKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Logs = NDArray[np.float64]
    Speed = Callable[[np.random.Generator, int], Logs]

TOKENS, STEP_MS = 97, 20.0
ROUNDS = {"baseline": 96, "arm": 40}
ROUND_NOISE, TRIAL_NOISE, DRIFT = 0.02, 0.02, 0.30


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

    `uneven`: the spread of each task is drawn between a third and three times of it.
    """

    arms: int = 2
    per_task: int = 4
    blocks: int = 3
    spread: float = 0.05
    uneven: bool = False
    offset: float = 0.0
    speed: Speed = steady
    stalls: Stalls = field(default_factory=Stalls)

    @property
    def names(self) -> list[str]:
        """The ids of the arms."""
        return ["baseline", *(f"arm-{at}" for at in range(1, self.arms))]


QUIET = "quiet"
SCENARIOS = {
    QUIET: Scenario(),
    "prompts differ by 10 %": Scenario(spread=0.10),
    "prompts differ by 30 %": Scenario(spread=0.30),
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
    "drift of 4 trials, one block": Scenario(blocks=1, speed=periodic(4)),
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


def measured(rng: np.random.Generator, scenario: Scenario, truths: Logs, *, rotated: bool) -> Times:
    """The times of one campaign in the order that its seed gives."""
    arms, prompts = scenario.names, len(FIXED_TASKS) * scenario.per_task
    order = running_order(
        arms, [str(at) for at in range(prompts)], blocks=scenario.blocks,
        seed=int(rng.integers(2**31)), interleaved="prompt", rotated=rotated,
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
        decode[:, :, at], median[:, :, at] = _rounds(rng, scenario.stalls, logs, rounds_of(at))
    return Times(decode=decode, median=median, order=place)


def rounds_of(arm: int) -> int:
    """How many rounds an answer takes the arm at this place."""
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
