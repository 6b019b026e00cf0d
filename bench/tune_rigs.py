"""Simulate rigs with a known best depth for tunes: the cost and yield of each depth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

DEEPEST, TASKS, TOKENS = 16, 8, 96
SPACES = {"8 depths": 8, "12 depths": 12}
# The depths at which `harness.tune.search` scouts a server without probes.
SCOUTS = (2, 4, 8, DEEPEST)
TRUTH_PROMPTS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRig:
    """A rig's truth: costs relative to a baseline token, acceptance by task, log-normal noise."""

    costs: Array  # costs of a round by drafted length
    chances: Array  # chances of the first position, by task
    fall: float  # factor on the chance from one position to the next
    noise: float
    drift: float  # drift over the whole tune
    deepest: int = DEEPEST
    overhead: float = 0.0
    probe_noise: float = 0.01
    tokens: int = TOKENS  # length of an answer
    scouts: tuple[int, ...] = ()  # depths to run on a server without probes


def rig(kind: str, rng: np.random.Generator) -> TuneRig:
    """Draw a random rig of this kind."""
    width_cost = rng.uniform(0.02, 0.18)
    draft = rng.uniform(0.0, 0.22)
    middle, fall = rng.uniform(0.6, 0.9), 1.0
    steps = 1 + width_cost * np.arange(DEEPEST + 1)
    if "kernel step" in kind:
        steps[rng.integers(3, 10) :] *= rng.uniform(1.15, 1.6)
    elif kind == "acceptance falls with depth":
        fall = rng.uniform(0.8, 0.95)
    elif kind == "nearly equal depths":
        width_cost, draft = rng.uniform(0.08, 0.14), rng.uniform(0.02, 0.06)
        steps = 1 + width_cost * np.arange(DEEPEST + 1)
    elif kind == "nothing helps":
        middle, draft = rng.uniform(0.15, 0.5), rng.uniform(0.25, 0.6)
        steps = 1 + rng.uniform(0.15, 0.4) * np.arange(DEEPEST + 1)
    # Probes do not see this overhead, because they time a single step without the loop around it.
    overhead = rng.uniform(0.05, 0.4) if kind == "overhead in every round" else 0.0
    return TuneRig(
        overhead=overhead,
        costs=overhead + steps + draft * np.arange(DEEPEST + 1),
        chances=np.clip(middle + rng.normal(0, rng.uniform(0.02, 0.15), TASKS), 0.05, 0.97),
        fall=fall,
        noise=rng.uniform(0.06, 0.1) if kind == "noise of 6 to 10 %" else rng.uniform(0.01, 0.06),
        drift=rng.uniform(-0.3, 0.3) if kind == "a drift" else 0.0,
        deepest=SPACES.get(kind, DEEPEST),
        scouts=SCOUTS if kind.startswith("no probes") else (),
    )


KINDS = (
    "any",
    "nearly equal depths",
    "a kernel step in T(k)",
    "no probes, a kernel step",
    "acceptance falls with depth",
    "a drift",
    "noise of 6 to 10 %",
    "8 depths",
    "12 depths",
    "a gain of 5 to 12 %",
    "nothing helps",
    "a loss of 0 to 3 %",
    "overhead in every round",
)
# The range of the best speedup, for kinds that set it.
BEST = {"a gain of 5 to 12 %": (1.05, 1.12), "a loss of 0 to 3 %": (0.97, 1.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneAnswers:
    """Numbers of rounds by drafted length and, at the largest depth, also by accepted length.

    At a given place in the text, draft and text agree either at all depths or at none; depths
    differ only in where their rounds begin.
    """

    lengths: Counts  # depth, prompt, drafted length
    accepted: Counts  # at the largest depth: prompt, accepted length


def answers(truth: TuneRig, tasks: Sequence[int], rng: np.random.Generator) -> TuneAnswers:
    """Simulate answers to one prompt for each entry of `tasks`, at every depth."""
    prompts, tokens = len(tasks), truth.tokens
    chance = truth.chances[list(tasks)][:, None]
    draws = rng.random((prompts, tokens + DEEPEST + 1))
    run = np.zeros((prompts, tokens), dtype=np.int64)
    going = np.ones((prompts, tokens), dtype=bool)
    for place in range(truth.deepest):
        going &= draws[:, place : place + tokens] < chance * truth.fall**place
        run += going
    lengths = np.zeros((truth.deepest + 1, prompts, truth.deepest + 1), dtype=np.int64)
    accepted = np.zeros((prompts, truth.deepest + 1), dtype=np.int64)
    for depth in range(1, truth.deepest + 1):
        at = np.ones(prompts, dtype=np.int64)
        while (live := np.flatnonzero(at < tokens)).size:
            drafted = np.minimum(depth, tokens - at[live] - 1)
            right = np.minimum(run[live, at[live]], drafted)
            lengths[depth, live, drafted] += 1
            if depth == truth.deepest:
                accepted[live, right] += 1
            at[live] += right + 1
    return TuneAnswers(lengths=lengths, accepted=accepted)


def log_times(truth: TuneRig, found: TuneAnswers) -> Array:
    """Log time per token, by depth (0 is the baseline) and prompt, on a quiet machine."""
    spent = found.lengths @ truth.costs[: truth.deepest + 1]
    spent[0] = truth.tokens - 1
    logs: Array = np.log(spent / (truth.tokens - 1))
    return logs


def known(kind: str, rng: np.random.Generator) -> tuple[TuneRig, Array]:
    """Draw a rig of a kind; also return the speedup of every depth over many prompts per task.

    If the kind sets the best speedup, the cost of drafted tokens is scaled to reach that value.
    """
    truth = rig(kind, rng)
    found = answers(truth, [task for task in range(TASKS) for _ in range(TRUTH_PROMPTS)], rng)
    if kind not in BEST:
        return truth, _speedups(truth, found)
    wanted = rng.uniform(*BEST[kind])
    low, high = 0.0, 100.0
    for _ in range(30):
        middle = (low + high) / 2
        scaled = replace(truth, costs=1 + middle * (truth.costs - 1))
        low, high = (middle, high) if _speedups(scaled, found)[1:].max() > wanted else (low, middle)
    return scaled, _speedups(scaled, found)


def _speedups(truth: TuneRig, found: TuneAnswers) -> Array:
    speedups: Array = np.exp(-log_times(truth, found).mean(axis=1))
    return speedups
