"""Ratios besides the speedup: controls, alternatives, processor time, energy, engines."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TypeAlias, TypeVar

from estimates import decomposition as parts
from estimates.intervals import equal_weight_mean, interval_over_tasks, t_interval
from estimates.model import Control, Interval
from estimates.once import once
from estimates.pairing import PromptPairs, pair
from estimates.passes import widened
from estimates.repeatability import repeat_deviation
from schemas.method import NO_SPECULATION
from schemas.submission import Arm, Submission, Task, Trial
from schemas.vocabulary import FIXED_TASKS, METHODS

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One arm on one task, or on the fixed tasks when `task` is `None`; `own_tasks`: its suite's.

    `groups` holds the paired prompts by task; `trials` and `baseline_trials` are all that ran,
    paired or not. `repeat_deviation`: how far one block's log ratio lies from its prompt's.
    """

    submission: Submission
    arm: Arm
    task: Task | None
    groups: tuple[tuple[PromptPairs, ...], ...]
    trials: tuple[Trial, ...]
    baseline_trials: tuple[Trial, ...]
    repeat_deviation: float
    own_tasks: bool = False

    @property
    def prompts(self) -> tuple[PromptPairs, ...]:
        """The paired prompts of all groups."""
        return tuple(pairs for group in self.groups for pairs in group)

    @property
    def complete(self) -> bool:
        """Whether every task has a paired prompt, so that a figure exists."""
        return all(self.groups)

    @property
    def log_ratios(self) -> tuple[tuple[float, ...], ...]:
        """Log speedups of the prompts by task."""
        return tuple(tuple(pairs.log_ratio for pairs in group) for group in self.groups)

    def values(self, value: Callable[[PromptPairs], T | None]) -> list[list[T]] | None:
        """A value of each prompt, by task; `None` if one is unknown."""
        groups = [[value(pairs) for pairs in group] for group in self.groups]
        known = [[each for each in group if each is not None] for group in groups]
        return known if known == groups else None

    def mean_over_prompts(self, value: Callable[[PromptPairs], float | None]) -> float | None:
        """Geometric mean over the prompts of a task, then over tasks; `None` if one is unknown."""
        groups = self.values(value)
        if groups is None:
            return None
        return math.exp(equal_weight_mean([list(map(math.log, group)) for group in groups]))


Figure: TypeAlias = Callable[[Scope], float | None]


def scopes(submission: Submission, arm: Arm, pairs: tuple[PromptPairs, ...]) -> Iterator[Scope]:
    """One scope for each task in the order of the suite, then one for the fixed tasks together."""
    deviation = repeat_deviation(submission, pairs)
    for task in (*dict.fromkeys(prompt.task for prompt in submission.suite.prompts), None):
        yield _scope(submission, arm, pairs, task, deviation)


def _scope(
    submission: Submission,
    arm: Arm,
    pairs: tuple[PromptPairs, ...],
    task: Task | None,
    deviation: float,
) -> Scope:
    suite = tuple(dict.fromkeys(prompt.task for prompt in submission.suite.prompts))
    own = task is None and submission.tier == "imported" and not {*FIXED_TASKS} <= {*suite}
    tasks = (suite if own else FIXED_TASKS) if task is None else (task,)
    ids = {prompt.id for prompt in submission.suite.prompts if prompt.task in tasks}
    trials = [trial for trial in submission.trials if trial.prompt in ids]
    groups = tuple(tuple(each for each in pairs if each.prompt.task == name) for name in tasks)
    return Scope(
        submission=submission,
        arm=arm,
        task=task,
        groups=groups,
        trials=tuple(trial for trial in trials if trial.arm == arm.id),
        baseline_trials=tuple(trial for trial in trials if trial.arm == arm.baseline),
        repeat_deviation=deviation,
        own_tasks=own,
    )


def controls(submission: Submission, pairs: Sequence[PromptPairs]) -> Iterator[Control]:
    """The control arms that ran, each as the geometric mean over its prompts with its t interval.

    Every prompt counts the same, because an instrument's error does not depend on the task.
    """
    for arm in submission.arms:
        kind = METHODS[arm.method.type].control
        log_ratios = [each.log_ratio for each in pairs if each.arm.id == arm.id]
        if arm.role == "control" and kind is not None and log_ratios:
            yield Control(
                arm=arm.id,
                kind=kind,
                prompts=len(log_ratios),
                ratio=math.exp(fmean(log_ratios)),
                interval=widened(t_interval(log_ratios), submission, arm),
            )


def against_alternative(scope: Scope) -> Scope | None:
    """The same arm and task, compared with the alternative that shares its baseline.

    `None` if the arm does not speculate, no alternative ran, or a task has no prompt of both. The
    first alternative counts where there are several.
    """
    if scope.arm.role != "speculation":
        return None
    rivals = (
        arm
        for arm in scope.submission.arms
        if arm.role == "alternative" and arm.baseline == scope.arm.baseline and arm.outcome == "ok"
    )
    rival = next(rivals, None)
    if rival is None:
        return None
    arm = replace(scope.arm, baseline=rival.id)
    compared = scopes(scope.submission, arm, pair(scope.submission, arm))
    found = next(each for each in compared if each.task == scope.task)
    return found if found.complete else None


def cpu_speedup(scope: Scope) -> tuple[float, Interval | None] | None:
    """Speedup by processor time and its 95 % t interval over prompts, weighted as the speedup is.

    `None` unless the target ran on the CPU and every paired trial recorded its processor time.
    """
    if scope.submission.engine.backend != "cpu":
        return None
    logs = scope.values(lambda pairs: pairs.cpu_log_ratio)
    return None if logs is None else (math.exp(equal_weight_mean(logs)), interval_over_tasks(logs))


def energy_per_token_j(trials: Sequence[Trial]) -> float | None:
    """Joules over tokens after the first, over all trials; `None` if one was not measured."""
    tokens = [(trial.output_tokens or 1) - 1 for trial in trials]
    return parts.share([trial.energy_j for trial in trials], tokens) or None


@once
def energy_ratio(pairs: PromptPairs) -> float | None:
    """Joules per token of the arm over those of its baseline in the same blocks: below 1 saves."""
    own, base = energy_per_token_j(pairs.trials), energy_per_token_j(pairs.baseline_trials)
    return None if own is None or base is None else own / base


def _over_trials(value: Callable[[Sequence[Trial]], float | None]) -> Figure:
    """A figure from the pooled counters of all pairs; `None` for a method that never drafts."""
    return lambda scope: (
        value([trial for pairs in scope.prompts for trial in pairs.trials])
        if parts.can_draft(scope.arm.method)
        else None
    )


# The figures of an arm on a task besides its speedup, by the field of `Estimate`.
FIGURES: Mapping[str, Figure] = {
    "baseline_tps": lambda scope: median(1000 / pairs.baseline_ms for pairs in scope.prompts),
    "tps": lambda scope: median(1000 / pairs.arm_ms for pairs in scope.prompts),
    "energy_per_token_j": lambda scope: scope.mean_over_prompts(
        lambda pairs: energy_per_token_j(pairs.trials)
    ),
    "energy_ratio": lambda scope: scope.mean_over_prompts(energy_ratio),
    "tokens_per_round": lambda scope: scope.mean_over_prompts(parts.yielded),
    "round_cost": lambda scope: scope.mean_over_prompts(parts.round_cost),
    "acceptance_rate": _over_trials(parts.acceptance_rate),
    "sequence_acceptance": _over_trials(parts.sequence_acceptance),
    "fire_rate": _over_trials(parts.fire_rate),
}

_OTHER = "other-engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRatio:
    """How many times as fast one engine's plain decoding is as another's, over `prompts` prompts.

    The interval is Student's t over prompts, widened by what disturbs whole passes; `None` with a
    single prompt or a single pass.
    """

    ratio: float
    interval: Interval | None
    prompts: int


def baseline_ratio(first: Submission, other: Submission) -> EngineRatio | None:
    """The speed of `other` over that of `first`; `None` without a prompt and block of both."""
    ours, theirs = _baseline(first), _baseline(other)
    if ours is None or theirs is None:
        return None
    both, rival = together(first, other, ours, theirs)
    logs = [each.log_ratio for each in pair(both, rival)]
    if not logs:
        return None
    interval = widened(t_interval(logs), both, rival)
    return EngineRatio(ratio=math.exp(fmean(logs)), interval=interval, prompts=len(logs))


def together(
    first: Submission, other: Submission, ours: str, theirs: str
) -> tuple[Submission, Arm]:
    """A submission with one arm of each of two engines, and the arm that holds `theirs`."""
    rival = Arm(id=_OTHER, role="alternative", method=NO_SPECULATION, baseline=ours)
    trials = (*_of(first, ours), *(replace(each, arm=_OTHER) for each in _of(other, theirs)))
    return replace(first, trials=trials), rival


def _baseline(submission: Submission) -> str | None:
    """The baseline of one request at a time, which every campaign has first."""
    return next((arm.id for arm in submission.arms if arm.role == "baseline"), None)


def _of(submission: Submission, arm: str) -> tuple[Trial, ...]:
    return tuple(trial for trial in submission.trials if trial.arm == arm)
