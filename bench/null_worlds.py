"""Files of devices on which none of 13 arms gains, for the simulation of choices.

An arm takes as long as plain decoding on average over prompts, and more or less on single ones: by
5 to 35 %, lognormal.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from estimates.model import Estimate, Interval
from estimates.summary import summarize
from estimates.verdicts import JUDGED, judge
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary import FIXED_TASKS
from tests.pipeline.tables import entry
from tests.samples import sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tests.pipeline.tables import Example

    Numbers = NDArray[np.float64]

MOVED = (
    *("speedup", "interval", "wall_speedup", "whole_request", "whole_request_interval"),
    *("stated_request", "stated_request_interval"),
)
ARMS, PER_TASK, BLOCKS = 13, 4, 2
TOKENS, STEP_MS, PROMPT_MS = 97, 20.0, 150.0
TRIAL_NOISE, TEXT_SPREAD = 0.03, 0.05
PROMPT_SPREADS = (0.05, 0.10, 0.35)  # by arm: a draft model, a small one, n-grams
ROUND_COST, LEAST_DEPTH = 2.0, 5


def device(rng: np.random.Generator, number: int) -> Example:
    """One file of one contributor on a device of its own.

    The file that is loaded has the trials of its first prompt only: all figures are in its summary.
    """
    base = _base()
    ratios = np.stack([_ratios(rng, at) for at in range(ARMS)])
    texts = STEP_MS * np.exp(TEXT_SPREAD * rng.normal(size=ratios.shape[1]))
    noise = TRIAL_NOISE * rng.normal(size=(BLOCKS, ARMS + 1, len(texts)))
    ratios = np.vstack([np.ones(len(texts)), ratios])
    times = (TOKENS - 1) * ratios * texts * np.exp(noise)
    gpu = f"NVIDIA GeForce RTX {1000 + number}"
    whole = replace(
        base,
        contributor=f"person{number}",
        machine=replace(base.machine, gpus=(replace(base.machine.gpus[0], name=gpu),)),
        trials=tuple(_trials(base, times, ratios)),
    )
    first = whole.suite.prompts[0].id
    few = tuple(trial for trial in whole.trials if trial.prompt == first)
    return entry(replace(whole, trials=few), summarize(whole))


def differing(rng: np.random.Generator, example: Example, spread: float) -> Example:
    """The file where each arm is by so much faster or slower on this device, as a logarithm.

    A factor on all times of an arm moves its ratios and their bounds by that factor.
    """
    factors = {arm.id: math.exp(spread * rng.normal()) for arm in example.submission.arms}
    estimates = tuple(_times(each, factors[each.arm]) for each in example.summary.estimates)
    return entry(example.submission, replace(example.summary, estimates=estimates))


def _times(estimate: Estimate, factor: float) -> Estimate:
    moved = {name: _scaled(getattr(estimate, name), factor) for name in MOVED}
    judged = estimate.verdict
    if judged in JUDGED:
        judged = judge(moved["interval"], moved["whole_request_interval"])
    return replace(estimate, **moved, verdict=judged)


def _scaled(value: Any, factor: float) -> Any:  # noqa: ANN401 - a figure or its interval
    if isinstance(value, Interval):
        return Interval(low=value.low * factor, high=value.high * factor)
    return None if value is None else value * factor


def _ratios(rng: np.random.Generator, at: int) -> Numbers:
    """Time with over time without speculation on each prompt; 1 on average."""
    spread = PROMPT_SPREADS[at % len(PROMPT_SPREADS)]
    logs = spread * rng.normal(size=len(FIXED_TASKS) * PER_TASK)
    return np.exp(logs - spread**2 / 2)


def _trials(base: Submission, times: Numbers, ratios: Numbers) -> Iterator[Trial]:
    for order, ((block, at, prompt), decode_ms) in enumerate(np.ndenumerate(times)):
        rounds = round((TOKENS - 1) * ratios[at, prompt] / ROUND_COST) if at else TOKENS - 1
        depth = at + LEAST_DEPTH if at else 0
        yield Trial(
            arm=base.arms[at].id,
            prompt=base.suite.prompts[prompt].id,
            block=block,
            order=order,
            outcome="ok",
            output_tokens=TOKENS,
            decode_ms=float(decode_ms),
            prompt_ms=PROMPT_MS,
            draft_prompt_ms=0.0 if at else None,
            rounds=rounds,
            drafted=rounds * depth,
            accepted=TOKENS - 1 - rounds,
            drafted_histogram=(*([0] * depth), rounds),
        )


@cache
def _base() -> Submission:
    """A submission without trials: plain decoding and thirteen arms."""
    made = sample(tasks=FIXED_TASKS, prompts_per_task=PER_TASK, blocks=BLOCKS)
    arms = (
        Arm(id="baseline", role="baseline", method=NO_SPECULATION),
        *(
            Arm(id=f"arm-{at}", role="speculation", method=_method(at), baseline="baseline")
            for at in range(1, ARMS + 1)
        ),
    )
    return replace(made, arms=arms, trials=(), probes=None)


def _method(at: int) -> Method:
    return Method(type="draft-model", draft="tiny-q8-0", n_max=at + LEAST_DEPTH)
