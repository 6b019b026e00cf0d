"""Define disturbances of simulated campaigns, and compute the times of disturbed trials.

An arm's round yields 2.4 tokens. A disturbance of the machine hits both arms in proportion to their
time. The arm's gain differs between prompts. Gains are scaled so that a task's time ratio is
exactly the ratio that its offset sets, or 1 without an offset.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from estimates.running_order import running_order

Logs = NDArray[np.float64]
Speed = Callable[[np.random.Generator, int], Logs]
# Maps quantiles of the prompts and their spread to log gains.
Gains = Callable[[Logs, float], Logs]

TOKENS, STEP_MS = 97, 20.0
# Reading the prompt: the target's time, its spread over prompts, the draft's share of that time.
READING_MS, READING_SPREAD, DRAFT_SHARE = 600.0, 0.5, 0.3
ROUNDS = {"baseline": 96, "arm": 40}
ROUND_NOISE, TRIAL_NOISE, DRIFT = 0.02, 0.02, 0.30
QUANTILES = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalls:
    """Stalls per second of computing, their mean length, and the share of trials that have any."""

    per_second: float = 0.0
    ms: float = 0.0
    trials: float = 1.0


def steady(_: np.random.Generator, count: int) -> Logs:
    """The machine's speed does not change."""
    return np.zeros(count)


def linear(_: np.random.Generator, count: int) -> Logs:
    """The machine slows down by 30 % from the first trial to the last."""
    return np.log1p(DRIFT * np.arange(count) / count)


def slow(rng: np.random.Generator, count: int) -> Logs:
    """The machine's speed is a random walk with steps of 2 % per trial."""
    return np.cumsum(rng.normal(scale=0.02, size=count))


def two_modes(stay: float) -> Speed:
    """The machine has two speeds, 40 % apart; it keeps its speed with probability `stay`."""

    def speed(rng: np.random.Generator, count: int) -> Logs:
        changes = rng.random(count) > stay
        return math.log(1.4) * ((np.cumsum(changes) + rng.integers(2)) % 2)

    return speed


def periodic(period: int) -> Speed:
    """The machine's speed is a sine wave, with a period counted in trials."""

    def speed(rng: np.random.Generator, count: int) -> Logs:
        wave = np.sin(2 * math.pi * (np.arange(count) / period + rng.random()))
        return np.log1p(DRIFT / 2 * wave)

    return speed


def smooth(at: Logs, spread: float) -> Logs:
    """Lognormal gains."""
    return np.asarray(spread * ndtri(at))


def seldom(at: Logs, _spread: float) -> Logs:
    """One prompt in five has a speedup of 2.5; on all other prompts the method does not draft."""
    return np.where(at < 0.2, math.log(2.5), 0.0)


def skewed(at: Logs, spread: float) -> Logs:
    """Gains of at least 1, few of which are large."""
    return np.log1p(-spread * np.log1p(-at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A design and the disturbances of its campaigns.

    `spread` is the spread of gains between prompts; with `uneven`, each task draws its own spread
    between a third of this value and three times this value. The logarithm of a task's time ratio
    is the task's entry in `offsets`, or is drawn with the standard deviation `offset`. `plain` is
    the spread of the baseline's times. With `counted`, trials record drafted tokens. `slowest` is
    the share of prompts on which the arm always times out. With `limit`, failed trials record how
    long they took.
    """

    arms: int = 2
    tasks: int = 8
    per_task: int = 4
    blocks: int = 3
    gains: Gains = smooth
    spread: float = 0.05
    uneven: bool = False
    offset: float = 0.0
    offsets: tuple[float, ...] | None = None
    plain: float = 0.0
    noise: float = TRIAL_NOISE
    speed: Speed = steady
    stalls: Stalls = field(default_factory=Stalls)
    method: Literal["draft-model", "prompt-lookup"] = "draft-model"
    counted: bool = True
    slowest: float = 0.0
    limit: bool = True

    @property
    def names(self) -> list[str]:
        """The ids of the arms."""
        return ["baseline", *(f"arm-{at}" for at in range(1, self.arms))]


QUIET = "quiet"
# Tasks that differ, as in the simulations that were used to choose the estimator.
OFFSETS = (0.35, 0.25, 0.05, 0.0, -0.1, 0.3, -0.5, -0.35)


def _strata(**design: object) -> Scenario:
    known = {"offsets": OFFSETS, "plain": 0.03, "noise": 0.03, **design}
    return Scenario(**known)  # type: ignore[arg-type]


def _seldom(**design: object) -> Scenario:
    return _strata(gains=seldom, method="prompt-lookup", **design)


DISTURBED = {
    QUIET: Scenario(),
    "prompts differ by 10 %": Scenario(spread=0.10),
    "prompts differ by 30 %": Scenario(spread=0.30),
    "tasks differ in their spread": Scenario(uneven=True),
    "one block": Scenario(blocks=1),
    "two prompts a task": Scenario(per_task=2),
    "eight prompts a task, two blocks": Scenario(per_task=8, blocks=2),
    "one prompt a task, one block": Scenario(per_task=1, blocks=1),
    **{f"shared offset of a task, {o:.0%}": Scenario(offset=o) for o in (0.02, 0.05, 0.10)},
    "linear drift of 30 %": Scenario(speed=linear),
    "slow drift": Scenario(speed=slow),
    "two speeds, for 10 trials": Scenario(speed=two_modes(0.9)),
    "two speeds, drawn each trial": Scenario(speed=two_modes(0.5)),
    **{f"drift of {p} trials": Scenario(speed=periodic(p)) for p in range(2, 9)},
    **{f"drift of {p} trials, 3 arms": Scenario(arms=3, speed=periodic(p)) for p in range(2, 9)},
    "drift of 4 trials, one block": Scenario(blocks=1, speed=periodic(4)),
    **{
        f"drift of {p} trials, 8 prompts, 2 blocks": Scenario(
            per_task=8, blocks=2, speed=periodic(p)
        )
        for p in (2, 3, 4)
    },
    "ticks: 2 ms, 15 a second": Scenario(stalls=Stalls(per_second=15, ms=2.0)),
    "stalls: 40 ms, 2 a second": Scenario(stalls=Stalls(per_second=2, ms=40.0)),
    "the same, 1 prompt, 1 block": Scenario(
        per_task=1, blocks=1, stalls=Stalls(per_second=2, ms=40.0)
    ),
    "stalls: 400 ms, 1 in 5 s": Scenario(stalls=Stalls(per_second=0.2, ms=400.0)),
    "a tenth of trials: 1 s stalls": Scenario(stalls=Stalls(per_second=0.7, ms=1000.0, trials=0.1)),
}
STRATA = {
    "tasks differ": _strata(spread=0.08, noise=0.015),
    "prompts differ by 35 %": _strata(spread=0.35),
    "prompts differ by 35 %, 8 x 2": _strata(spread=0.35, per_task=8, blocks=2),
    "prompts differ by 35 %, 16 x 1": _strata(spread=0.35, per_task=16, blocks=1),
    "seldom fires": _seldom(),
    "seldom fires, 8 x 2": _seldom(per_task=8, blocks=2),
    "seldom fires, 16 x 1": _seldom(per_task=16, blocks=1),
    "seldom fires, not counted": _seldom(counted=False),
    "seldom fires, not counted, 8 x 2": _seldom(counted=False, per_task=8, blocks=2),
    "seldom fires, no task gains": _seldom(offsets=None),
    "seldom fires, no task gains, 8 x 2": _seldom(offsets=None, per_task=8, blocks=2),
    "the same, not counted": _seldom(offsets=None, counted=False, per_task=8, blocks=2),
    "few gain much": _strata(gains=skewed, spread=0.4),
    "few gain much, 8 x 2": _strata(gains=skewed, spread=0.4, per_task=8, blocks=2),
    "two prompts, one block": _strata(spread=0.15, per_task=2, blocks=1),
    "two prompts, seldom fires": _seldom(per_task=2, blocks=1),
    "two tasks": _strata(tasks=2, spread=0.15),
    "one task": _strata(tasks=1, spread=0.15),
    "one task, 8 x 2": _strata(tasks=1, spread=0.15, per_task=8, blocks=2),
    "trials differ by 12 %": _strata(spread=0.08, noise=0.12),
    "trials differ by 12 %, 8 x 2": _strata(spread=0.08, noise=0.12, per_task=8, blocks=2),
}
# Slow prompts always time out; the truth uses the times that they would have taken.
FAILING = {
    f"slowest {share:.0%} time out{'' if limit else ', time unknown'}, {truth:.2f}": Scenario(
        spread=0.35, per_task=8, blocks=2, slowest=share, limit=limit,
        offsets=(math.log(truth),) * 8,
    )
    for truth in (1.0, 1.02)
    for limit in (True, False)
    for share in (0.02, 0.05, 0.10, 0.20)
}  # fmt: skip
SCENARIOS = {**DISTURBED, **STRATA, **FAILING}


@cache
def mean_log_and_time(gains: Gains, spread: float) -> tuple[float, float]:
    """The mean of the log gains of all prompts, and the log of their mean time."""
    logs = gains((np.arange(QUANTILES) + 0.5) / QUANTILES, spread)
    return float(logs.mean()), math.log(np.exp(-logs).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Times of one campaign in milliseconds, by block, prompt and arm.

    `decode` is the sum of all rounds, `steady` the median round multiplied by the number of rounds,
    and `order` the trial's place in the campaign. `reading` and `draft_reading` are the times that
    target and draft take to read the prompt. `drafts` marks the prompts on which the arms draft,
    `fails` the prompts on which they time out after `limit_ms`. For each task, `truths` has the
    logarithm of the true time ratio, and `geometric` that of the true geometric mean of the
    prompts' gains.
    """

    decode: Logs
    steady: Logs
    order: Logs
    reading: Logs
    draft_reading: Logs
    drafts: NDArray[np.bool_]
    fails: NDArray[np.bool_]
    limit_ms: float
    truths: Logs
    geometric: Logs


def measured(rng: np.random.Generator, scenario: Scenario) -> Times:
    """Draw the times of one campaign; the random generator also draws the order of its trials."""
    prompts = scenario.tasks * scenario.per_task
    shape = (scenario.blocks, prompts, scenario.arms)
    machine, place = _machine(rng, scenario, shape)
    truths = np.array(
        scenario.offsets or scenario.offset * rng.normal(size=scenario.tasks), dtype=float
    )[: scenario.tasks]
    spread = scenario.spread * np.ones(scenario.tasks)
    if scenario.uneven:
        spread *= 3 ** rng.uniform(-1, 1, size=scenario.tasks)
    at = rng.random((scenario.tasks, scenario.per_task))
    known = [mean_log_and_time(scenario.gains, each) for each in spread]
    raw = np.stack([scenario.gains(*each) for each in zip(at, spread, strict=True)])
    levels = truths + np.array([time for _, time in known])
    own = (raw + levels[:, None]).ravel()
    plain = scenario.plain * rng.normal(size=prompts)
    decode, by_median = np.empty(shape), np.empty(shape)
    for arm in range(scenario.arms):
        logs = machine[:, :, arm] + plain - (own if arm else 0.0)
        decode[:, :, arm], by_median[:, :, arm] = _rounds(
            rng, scenario.stalls, logs, rounds_of(arm)
        )
    reading = READING_MS * np.exp(READING_SPREAD * rng.normal(size=prompts) - READING_SPREAD**2 / 2)
    noise = np.exp(machine + rng.normal(scale=TRIAL_NOISE, size=shape))
    slowest = levels[0] + float(scenario.gains(np.array(scenario.slowest or 0.5), scenario.spread))
    return Times(
        decode=decode,
        steady=by_median,
        order=place,
        reading=reading[:, None] * noise,
        draft_reading=DRAFT_SHARE * reading[:, None] * noise,
        drafts=(raw > 0).ravel() | (scenario.gains is not seldom),
        fails=(at < scenario.slowest).ravel(),
        limit_ms=STEP_MS * (TOKENS - 1) * math.exp(-slowest),
        truths=truths,
        geometric=levels + np.array([log for log, _ in known]),
    )


def request_times(scenario: Scenario, truths: Logs) -> tuple[float, float]:
    """Mean milliseconds of a whole request without and with the arm, given the true ratios."""
    written = STEP_MS * (TOKENS - 1) * math.exp(scenario.plain**2 / 2)
    draft = DRAFT_SHARE if scenario.method == "draft-model" else 0.0
    own = READING_MS * (1 + draft) + written * float(np.exp(-truths).mean())
    return READING_MS + written, own


def rounds_of(arm: int) -> int:
    """The number of rounds in an answer of the arm with this index; 0 is the baseline."""
    return ROUNDS["arm" if arm else "baseline"]


def _machine(
    rng: np.random.Generator, scenario: Scenario, shape: tuple[int, int, int]
) -> tuple[Logs, Logs]:
    """Draw the machine's log slowness during each trial, and each trial's place in the order."""
    arms = scenario.names
    order = running_order(
        arms, [str(at) for at in range(shape[1])], blocks=scenario.blocks,
        seed=int(rng.integers(2**31)), interleaved="prompt",
    )  # fmt: skip
    places = np.array([(block, int(prompt), arms.index(arm)) for block, prompt, arm in order])
    machine, place = np.empty(shape), np.empty(shape)
    place[tuple(places.T)] = np.arange(len(places))
    noise = rng.normal(scale=scenario.noise, size=len(places))
    machine[tuple(places.T)] = scenario.speed(rng, len(places)) + noise
    return machine, place


def _rounds(rng: np.random.Generator, stalls: Stalls, logs: Logs, rounds: int) -> tuple[Logs, Logs]:
    """Draw rounds with stalls; return their sum, and their median multiplied by their number."""
    shape = (*logs.shape, rounds)
    round_ms = STEP_MS * (TOKENS - 1) / rounds * np.exp(logs)
    times = round_ms[..., None] * (1 + rng.normal(scale=ROUND_NOISE, size=shape))
    if stalls.per_second:
        stalled = rng.random((*logs.shape, 1)) < stalls.trials
        count = rng.poisson(stalls.per_second * times / 1000)
        times += count * stalls.ms * rng.gamma(4, 0.25, size=shape) * stalled
    return times.sum(axis=-1), rounds * np.median(times, axis=-1)
