"""Every estimator applied to one simulated campaign, beside the truth, in natural logarithms."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from bench.designs import both_lengths, one_after_another
from bench.population import BLOCKS, CONTROL
from estimates.intervals import equal_weight_mean, interval_over_tasks, t_interval
from estimates.pairing import pair
from estimates.summary import summarize
from schemas.vocabulary import FIXED_TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.population import Population
    from bench.rigs import Trouble
    from estimates.model import Interval
    from harness.campaign.model import SuitePrompt
    from schemas.submission import Submission


Method = Literal[
    "paired",
    "bootstrap",
    "over-blocks",
    "adaptive",
    "adaptive-over-blocks",
    "medians-apart",
    "one-after-another",
]
Arm = Literal["draft", "control"]
Level = Literal["all-tasks", "one-task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One figure of one campaign beside its truths.

    `truth` is that of the prompts that were run, `population_truth` that of all prompts. The
    intervals of `over-blocks` speak of the former, the others of the latter. `blocks` is how many
    blocks were run.
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
class Campaign:
    """Some prompts of the population, run on one rig."""

    known: Population
    trouble: Trouble
    seed: int
    prompts: tuple[SuitePrompt, ...]


def figures(known: Population, trouble: Trouble, seed: int) -> Iterator[Found]:
    """All figures of one campaign, by every method."""
    prompts = known.draw(random.Random(seed))  # noqa: S311 - a simulation
    it = Campaign(known, trouble, seed, prompts)
    fixed, adaptive = both_lengths(known.rig, trouble, prompts, seed)
    yield from _published(it, fixed)
    yield from _adaptive(it, adaptive)
    yield from _medians_apart(it, fixed)
    yield _one_after_another(it)


def _published(it: Campaign, submission: Submission) -> Iterator[Found]:
    """What the project says of the campaign, with both of its intervals."""
    for each in summarize(submission).estimates:
        if each.speedup is not None:
            value = math.log(each.speedup)
            yield _found(it, "paired", each.arm, each.task, value, each.interval)
            yield _found(it, "bootstrap", each.arm, each.task, value, each.bootstrap)
            yield _found(it, "over-blocks", each.arm, each.task, value, each.repeatability)


def _adaptive(it: Campaign, submission: Submission) -> Iterator[Found]:
    """What the project says of the campaign that ended by its rule."""
    blocks = 1 + max(trial.block for trial in submission.trials)
    for each in summarize(submission).estimates:
        if each.speedup is not None:
            value = math.log(each.speedup)
            over_prompts = _found(it, "adaptive", each.arm, each.task, value, each.interval)
            over_blocks = _found(
                it, "adaptive-over-blocks", each.arm, each.task, value, each.repeatability
            )
            yield from (replace(found, blocks=blocks) for found in (over_prompts, over_blocks))


def _medians_apart(it: Campaign, submission: Submission) -> Iterator[Found]:
    """The estimator that was given up: per prompt, the ratio of both arms' medians over blocks."""
    for arm in submission.arms[1:]:
        pairs = pair(submission, arm)
        groups = [
            [math.log(p.baseline_ms / p.arm_ms) for p in pairs if p.prompt.task == task]
            for task in FIXED_TASKS
        ]
        overall = equal_weight_mean(groups)
        yield _found(it, "medians-apart", arm.id, None, overall, interval_over_tasks(groups))
        for task, group in zip(FIXED_TASKS, groups, strict=True):
            yield _found(it, "medians-apart", arm.id, task, fmean(group), t_interval(group))


def _one_after_another(it: Campaign) -> Found:
    """A ratio of mean rates aims at the mean of the speedups, and is judged by that."""
    rates = [math.exp(it.known.log_speedup[prompt.id]) for prompt in it.prompts]
    found = one_after_another(it.known.rig, it.trouble, it.prompts, it.seed)
    truth = math.log(fmean(rates))
    return Found(
        method="one-after-another",
        arm="draft",
        level="all-tasks",
        value=math.log(found),
        truth=truth,
        population_truth=truth,
    )


def _found(
    it: Campaign,
    method: Method,
    arm: str,
    task: str | None,
    value: float,
    interval: Interval | None,
) -> Found:
    is_control = arm == CONTROL.id
    return Found(
        method=method,
        arm="control" if is_control else "draft",
        level="all-tasks" if task is None else "one-task",
        value=value,
        truth=0.0 if is_control else it.known.truth(it.prompts, task),
        population_truth=0.0 if is_control else it.known.truths[task],
        low=None if interval is None else math.log(interval.low),
        high=None if interval is None else math.log(interval.high),
    )
