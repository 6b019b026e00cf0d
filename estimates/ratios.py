"""Compute ratios other than the speedup: controls, alternatives, engines."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

from estimates import decomposition as parts
from estimates.intervals import Times, mean_over_tasks, mean_times, ratio_interval, time_ratio
from estimates.model import Control
from estimates.pairing import NORMAL_95, PromptPairs, pair
from estimates.repeatability import repeat_deviation, widened
from schemas.method import NO_SPECULATION
from schemas.submission import Arm, Submission, Task, Trial
from schemas.vocabulary import FIXED_TASKS, METHODS

T = TypeVar("T")


@dataclass(frozen=True, eq=False, kw_only=True)
class Scope:
    """An arm on one task or, if `task` is `None`, on all fixed tasks.

    With `own_tasks`, the scope is all tasks of the suite instead. `groups` has the paired prompts
    by task. `trials` and `baseline_trials` are all trials that ran, paired or not.
    `repeat_deviation` is the standard deviation of a block's log ratio around its prompt's log
    ratio.
    """

    submission: Submission
    arm: Arm
    task: Task | None
    groups: tuple[tuple[PromptPairs, ...], ...]
    trials: tuple[Trial, ...]
    baseline_trials: tuple[Trial, ...]
    repeat_deviation: float
    own_tasks: bool = False

    @cached_property
    def prompts(self) -> tuple[PromptPairs, ...]:
        return tuple(pairs for group in self.groups for pairs in group)

    @property
    def complete(self) -> bool:
        """Whether every task has a paired prompt, so that a figure exists."""
        return all(self.groups)

    @cached_property
    def times(self) -> list[list[Times]]:
        """The ms per token of the baseline and the arm for each prompt, by task."""
        return [[(each.baseline_ms, each.arm_ms) for each in group] for group in self.groups]

    def values(self, value: Callable[[PromptPairs], T | None]) -> list[list[T]] | None:
        """A value for each prompt, by task; `None` if it is unknown for any prompt."""
        groups = [[value(pairs) for pairs in group] for group in self.groups]
        known = [[each for each in group if each is not None] for group in groups]
        return known if known == groups else None

    def mean(self, value: Callable[[PromptPairs], float | None]) -> float | None:
        """A value's mean over prompts, then over tasks; `None` if it is unknown for any prompt."""
        groups = self.values(value)
        return None if groups is None else mean_over_tasks(groups)

    @property
    def floor(self) -> float:
        """The smallest plausible half-width of an interval, as a logarithm, from the repetitions.

        Over several tasks, this is the error of the mean over all repeated prompts and blocks. The
        few prompts of one task may all be disturbed in all blocks, so the task's blocks count as
        one.
        """
        alone = len(self.groups) == 1
        blocks = [(len(group), len(each.trials)) for group in self.groups for each in group]
        errors = (
            1 / (size**2 * (1 if alone else many)) for size, many in blocks if alone or many > 1
        )
        return NORMAL_95 * self.repeat_deviation * math.sqrt(sum(errors)) / len(self.groups)


Figure: TypeAlias = Callable[[Scope], float | None]


def scopes(submission: Submission, arm: Arm, pairs: tuple[PromptPairs, ...]) -> Iterator[Scope]:
    """A scope for each task in the order of the suite, then a scope for all tasks together."""
    deviation = repeat_deviation(submission, pairs)
    suite = tuple(dict.fromkeys(prompt.task for prompt in submission.suite.prompts))
    own_suite = submission.tier == "imported" and not {*FIXED_TASKS} <= {*suite}
    for task in (*suite, None):
        tasks = (suite if own_suite else FIXED_TASKS) if task is None else (task,)
        ids = {prompt.id for prompt in submission.suite.prompts if prompt.task in tasks}
        trials = [trial for trial in submission.trials if trial.prompt in ids]
        yield Scope(
            submission=submission,
            arm=arm,
            task=task,
            groups=tuple(tuple(p for p in pairs if p.prompt.task == name) for name in tasks),
            trials=tuple(trial for trial in trials if trial.arm == arm.id),
            baseline_trials=tuple(trial for trial in trials if trial.arm == arm.baseline),
            repeat_deviation=deviation,
            own_tasks=own_suite and task is None,
        )


def controls(submission: Submission, pairs: Sequence[PromptPairs]) -> Iterator[Control]:
    """The control arms that ran, each with its time ratio over all prompts.

    Every prompt has the same weight, because an instrument's error does not depend on the task.
    """
    for arm in submission.arms:
        kind = METHODS[arm.method.type].control
        times = [(pair.baseline_ms, pair.arm_ms) for pair in pairs if pair.arm.id == arm.id]
        if arm.role == "control" and kind is not None and times:
            yield Control(
                arm=arm.id,
                kind=kind,
                prompts=len(times),
                ratio=time_ratio([times]),
                interval=widened(ratio_interval([times]), submission, arm),
            )


def against_alternative(scope: Scope) -> Scope | None:
    """The same arm and task, but compared with the alternative to speculation.

    The alternative uses the draft's memory differently and shares the arm's baseline. `None` if the
    arm does not speculate, no alternative ran, or some task has no prompt that both finished. If
    there are several alternatives, the first counts.
    """
    if scope.arm.role != "speculation":
        return None
    for rival in scope.submission.arms:
        own_base = rival.baseline == scope.arm.baseline
        if rival.role == "alternative" and own_base and rival.outcome == "ok":
            arm = replace(scope.arm, baseline=rival.id)
            compared = scopes(scope.submission, arm, pair(scope.submission, arm))
            other = next(other for other in compared if other.task == scope.task)
            return other if other.complete else None
    return None


def _inverse(value: float | None) -> float | None:
    return None if value is None else 1 / value


def _over_trials(value: Callable[[Sequence[Trial]], float | None]) -> Figure:
    """Turn a function of trials into a figure of a scope; `None` for a method that never drafts."""
    return lambda scope: (
        value([trial for pairs in scope.prompts for trial in pairs.trials])
        if parts.can_draft(scope.arm.method)
        else None
    )


def _energy(scope: Scope, of: Literal["trials", "baseline_trials"]) -> float | None:
    """Joules by token; `None` on a CPU, whose idle GPU draws energy, too."""
    trials = [trial for pairs in scope.prompts for trial in getattr(pairs, of)]
    drawn = parts.share([each.energy_j for each in trials], [each.output_tokens for each in trials])
    return None if scope.submission.engine.backend == "cpu" else drawn


# The figures of an arm on a task other than the speedup, by field of `Estimate`.
FIGURES: Mapping[str, Figure] = {
    "baseline_tps": lambda scope: 1000 / mean_times(scope.times)[0],
    "tps": lambda scope: 1000 / mean_times(scope.times)[1],
    # The inverse of the mean of rounds per token, as for times.
    "tokens_per_round": lambda scope: _inverse(
        scope.mean(lambda pairs: _inverse(pairs.tokens_per_round))
    ),
    # Tokens per round over the speedup, so that the three printed figures agree.
    "round_cost": lambda scope: (
        tokens / time_ratio(scope.times) if (tokens := FIGURES["tokens_per_round"](scope)) else None
    ),
    "acceptance_rate": _over_trials(parts.acceptance_rate),
    "fire_rate": _over_trials(parts.fire_rate),
    "baseline_token_j": lambda scope: _energy(scope, "baseline_trials"),
    "token_j": lambda scope: _energy(scope, "trials"),
}

_OTHER = "other-engine"


def merge_submissions(
    first: Submission, other: Submission, ours: str, theirs: str
) -> tuple[Submission, Arm]:
    """Merge the trials of `ours` in `first` and `theirs` in `other`; also return the latter arm."""
    rival = Arm(id=_OTHER, role="alternative", method=NO_SPECULATION, baseline=ours)
    trials = (*_of(first, ours), *(replace(each, arm=_OTHER) for each in _of(other, theirs)))
    return replace(first, trials=trials), rival


def _of(submission: Submission, arm: str) -> tuple[Trial, ...]:
    return tuple(trial for trial in submission.trials if trial.arm == arm)
