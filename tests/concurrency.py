"""Samples that were measured with several requests in flight, at several levels."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from schemas.submission import Arm, Submission, Trial
from tests.samples import SampleCosts, sample


def concurrent(*levels: int, prompts_per_task: int = 1, blocks: int = 2) -> Submission:
    """One campaign with every arm at each number of requests at once.

    A step processes the tokens of all streams, at 2 ms each: a plain step takes 18 + 2 per stream,
    a step that verifies four drafted tokens 18 + 10 per stream.
    """
    parts = [_part(level, prompts_per_task, blocks) for level in levels]
    trials = [trial for part in parts for trial in part.trials]
    return replace(
        parts[0],
        arms=tuple(arm for part in parts for arm in part.arms),
        trials=tuple(replace(trial, order=order) for order, trial in enumerate(trials)),
        warmups=tuple(item for part in parts for item in part.warmups or ()),
        design=replace(parts[0].design, planned_trials=len(trials), interleaved="block"),
    )


def _part(level: int, prompts_per_task: int, blocks: int) -> Submission:
    costs = SampleCosts(step_ms=18 + 2 * level, extra_width_ms=2 * level, noise=0.001)
    part = sample(costs=costs, prompts_per_task=prompts_per_task, blocks=blocks)
    if level == 1:
        return part
    passes = sorted(part.trials, key=_pass)
    return replace(
        part,
        arms=tuple(_crowded(arm, level) for arm in part.arms),
        trials=tuple(
            trial for _, turn in groupby(passes, key=_pass) for trial in _in_flight(turn, level)
        ),
        warmups=tuple(replace(item, arm=f"{item.arm}-c{level}") for item in part.warmups or ()),
    )


def _crowded(arm: Arm, level: int) -> Arm:
    baseline = None if arm.baseline is None else f"{arm.baseline}-c{level}"
    return replace(arm, id=f"{arm.id}-c{level}", baseline=baseline, concurrency=level)


def _pass(trial: Trial) -> tuple[int, str]:
    return trial.block, trial.arm


def _in_flight(trials: Iterable[Trial], level: int) -> list[Trial]:
    """The trials of a pass, each started when a slot became free."""
    free_ms = [0.0] * level
    begun: list[Trial] = []
    for trial in trials:
        slot = free_ms.index(min(free_ms))
        named = replace(trial, arm=f"{trial.arm}-c{level}", compared_tokens=trial.output_tokens)
        begun.append(replace(named, started_ms=round(free_ms[slot], 3)))
        free_ms[slot] += trial.wall_ms or 0.0
    return begun
