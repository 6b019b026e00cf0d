"""Simulate files and tunes for devices on which none of 13 arms gains, for `bench.choices`.

Averaged over prompts, an arm takes as long as plain decoding. Single prompts differ by 5 to 35 %
(lognormal).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimates.model import Estimate, Interval
from estimates.summary import summarize
from estimates.verdicts import JUDGED, judge
from harness.campaign.arms import BASELINE
from harness.tune.forecast import Candidate, shortlist
from harness.tune.search import BLOCKS as CERTIFICATE_BLOCKS
from harness.tune.search import CERTIFIED
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary import FIXED_TASKS
from tests.pipeline.tables import Example, entry
from tests.samples import sample

Numbers = NDArray[np.float64]

MOVED = (
    *("speedup", "interval", "wall_speedup", "whole_request", "whole_request_interval"),
    *("stated_request", "stated_request_interval"),
)
ARMS, PER_TASK, BLOCKS = 13, 4, 2
TOKENS, STEP_MS, PROMPT_MS = 97, 20.0, 150.0
TRIAL_NOISE, TEXT_SPREAD = 0.03, 0.05
PROMPT_SPREADS = (0.05, 0.10, 0.35)  # by arm: a draft model, a small draft model, n-grams
FORECAST_ERROR = 0.04  # of a depth's forecast, as a logarithm
ROUND_COST, LEAST_DEPTH = 2.0, 5


def device(rng: np.random.Generator) -> Example:
    """A file and its summary over all prompts; the file keeps only the first prompt's trials."""
    base, ratios = _base(), _ratios(rng)
    whole = replace(base, trials=tuple(_trials(rng, ratios, base, BLOCKS)))
    first = whole.suite.prompts[0].id
    few = tuple(trial for trial in whole.trials if trial.prompt == first)
    return entry(replace(whole, trials=few), summarize(whole))


def placed(
    rng: np.random.Generator, example: Example, spread: float, *, world: int, number: int
) -> Example:
    """Give the file a new device, a new contributor and the one model of this simulated world.

    Each arm's speedups and their bounds are multiplied by a random factor, whose logarithm has the
    standard deviation `spread`.
    """
    given = example.submission
    gpu = replace(given.machine.gpus[0], name=f"NVIDIA GeForce RTX {1000 + number}")
    named = replace(
        given,
        contributor=f"person{number}",
        machine=replace(given.machine, gpus=(gpu,)),
        target=replace(given.target, name=f"World-{world}"),
    )
    factors = {arm.id: math.exp(spread * rng.normal()) for arm in given.arms}
    estimates = tuple(_times(each, factors[each.arm]) for each in example.summary.estimates)
    return entry(named, replace(example.summary, estimates=estimates))


def tune(rng: np.random.Generator) -> Example:
    """The certificate of a tune whose forecasts use the first prompt of each task."""
    base, ratios = _base(), _ratios(rng)
    prompts = base.suite.prompts
    fresh = tuple(each for at, each in enumerate(prompts) if at % PER_TASK)
    forecasts = 1 / ratios[:, ::PER_TASK].mean(axis=1)
    forecasts *= np.exp(FORECAST_ERROR * rng.normal(size=len(forecasts)))
    listed = shortlist(
        [
            Candidate(id=arm.id, family="draft", depth=at, predicted=float(predicted))
            for at, (arm, predicted) in enumerate(
                zip(base.arms[1:], forecasts[1:], strict=True), LEAST_DEPTH + 1
            )
        ],
        CERTIFIED,
    )
    chosen = {BASELINE, *(each.id for each in listed)}
    arms = tuple(each for each in base.arms if each.id in chosen)
    part = replace(base, arms=arms, suite=replace(base.suite, prompts=fresh))
    certificate = replace(part, trials=tuple(_trials(rng, ratios, part, CERTIFICATE_BLOCKS)))
    return entry(certificate, summarize(certificate))


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


def _ratios(rng: np.random.Generator) -> Numbers:
    """Draw each prompt's time relative to plain decoding: arms (baseline first) x prompts."""
    spreads = np.resize(PROMPT_SPREADS, ARMS)[:, np.newaxis]
    logs = spreads * rng.normal(size=(ARMS, len(FIXED_TASKS) * PER_TASK)) - spreads**2 / 2
    return np.exp(np.vstack([np.zeros(logs.shape[1]), logs]))


def _trials(
    rng: np.random.Generator, ratios: Numbers, part: Submission, blocks: int
) -> Iterator[Trial]:
    """Yield trials of the arms and prompts in `part`, a subset of those in the base submission."""
    base = _base()
    arms = [at for at, arm in enumerate(base.arms) if arm in part.arms]
    prompts = [at for at, prompt in enumerate(base.suite.prompts) if prompt in part.suite.prompts]
    own = ratios[np.ix_(arms, prompts)]
    texts = STEP_MS * np.exp(TEXT_SPREAD * rng.normal(size=len(prompts)))
    noise = TRIAL_NOISE * rng.normal(size=(blocks, *own.shape))
    times = (TOKENS - 1) * own * texts * np.exp(noise)
    for order, ((block, row, column), decode_ms) in enumerate(np.ndenumerate(times)):
        at = arms[row]
        rounds = round((TOKENS - 1) * own[row, column] / ROUND_COST) if at else TOKENS - 1
        depth = at + LEAST_DEPTH if at else 0
        yield Trial(
            arm=base.arms[at].id,
            prompt=base.suite.prompts[prompts[column]].id,
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
        Arm(id=BASELINE, role="baseline", method=NO_SPECULATION),
        *(
            Arm(id=f"arm-{at}", role="speculation", method=_method(at), baseline=BASELINE)
            for at in range(1, ARMS + 1)
        ),
    )
    # A card of unknown bandwidth, so that no flag finds a round too fast.
    gpu = replace(made.machine.gpus[0], name="NVIDIA GeForce RTX 1000")
    machine = replace(made.machine, gpus=(gpu,))
    return replace(made, machine=machine, arms=arms, trials=(), probes=None)


def _method(at: int) -> Method:
    return Method(type="draft-model", draft="tiny-q8-0", n_max=at + LEAST_DEPTH)
