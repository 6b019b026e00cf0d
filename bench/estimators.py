"""Apply every estimator to a simulated campaign and compare it with the truth, in natural logs."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bench.designs import interleaved, one_after_another
from bench.population import BLOCKS, CONTROL, Population
from bench.previous import geometric
from bench.rigs import Trouble
from estimates.model import Estimate, Interval
from estimates.pairing import pair
from estimates.ratios import scopes
from estimates.summary import summarize
from harness.campaign.model import SuitePrompt
from schemas.submission import Submission

Method = Literal[
    "paired",
    "over-blocks",
    "geometric",
    "one-after-another",
]
Arm = Literal["draft", "control"]
Level = Literal["all-tasks", "one-task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInterval:
    """One estimate from one campaign, with its interval, and the true values.

    `truth` is the true value over the prompts that were run, `population_truth` the true value over
    all prompts. The intervals of the methods named `over-blocks` are for `truth`, all other
    intervals for `population_truth`. `blocks` is the number of blocks that were run.
    """

    method: Method
    arm: Arm
    level: Level
    value: float
    truth: float
    population_truth: float
    low: float | None = None
    high: float | None = None
    blocks: int = BLOCKS


@dataclass(frozen=True)
class SimulatedCampaign:
    """A campaign on a simulated rig, with some prompts from the population."""

    known: Population
    trouble: Trouble
    seed: int
    prompts: tuple[SuitePrompt, ...]


def figures(known: Population, trouble: Trouble, seed: int) -> Iterator[FoundInterval]:
    """Simulate one campaign, and yield the estimates by every method."""
    prompts = known.draw(random.Random(seed))  # noqa: S311 - a simulation
    it = SimulatedCampaign(known, trouble, seed, prompts)
    fixed = interleaved(known.rig, trouble, prompts, seed)
    yield from _published(it, fixed, "paired", "over-blocks")
    yield from _geometric(it, fixed)
    found = one_after_another(known.rig, trouble, prompts, seed)
    yield _found(it, "one-after-another", "draft", None, math.log(found), None)


def _published(
    it: SimulatedCampaign, submission: Submission, over_prompts: Method, over_blocks: Method
) -> Iterator[FoundInterval]:
    """Yield each of the project's estimates twice: with intervals over prompts and over blocks."""
    blocks = 1 + max(trial.block for trial in submission.trials)
    for each in summarize(submission).estimates:
        if each.speedup is not None:
            value = math.log(each.speedup)
            for method, interval in ((over_prompts, each.interval), (over_blocks, _repeated(each))):
                found = _found(it, method, each.arm, each.task, value, interval)
                yield replace(found, blocks=blocks)


def _repeated(found: Estimate) -> Interval | None:
    """The interval for the speedup if the same prompts are measured again."""
    if found.speedup is None or found.repeatable_within is None:
        return None
    reach = math.exp(found.repeatable_within)
    return Interval(low=found.speedup / reach, high=found.speedup * reach)


def _geometric(it: SimulatedCampaign, submission: Submission) -> Iterator[FoundInterval]:
    """Yield the figures of the previous estimator, which are also judged by the true time ratio."""
    for arm in submission.arms[1:]:
        for scope in scopes(submission, arm, pair(submission, arm)):
            value, interval = geometric(scope)
            yield _found(it, "geometric", arm.id, scope.task, value, interval)


def _found(
    it: SimulatedCampaign,
    method: Method,
    arm: str,
    task: str | None,
    value: float,
    interval: Interval | None,
) -> FoundInterval:
    is_control = arm == CONTROL.id
    return FoundInterval(
        method=method,
        arm="control" if is_control else "draft",
        level="all-tasks" if task is None else "one-task",
        value=value,
        truth=0.0 if is_control else it.known.truth(it.prompts, task),
        population_truth=0.0 if is_control else it.known.truths[task],
        low=None if interval is None else math.log(interval.low),
        high=None if interval is None else math.log(interval.high),
    )
