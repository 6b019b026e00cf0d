"""Select the trials behind one estimate.

On one task: all its prompts. Over tasks: the eight fixed tasks, each with equal weight, and only
if every one of them has a paired prompt; else the same word would mean different mixtures. An
imported suite seldom has them: then its own prompts count, each with equal weight because its
author never sorted them into these tasks, and the estimate says so (`own_tasks`).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from estimates.intervals import equal_weight_mean
from estimates.pairing import PromptPairs
from schemas.submission import Arm, Submission, Task, Trial
from schemas.vocabulary import FIXED_TASKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One arm on one task, or on the fixed tasks when `task` is `None`; `own_tasks`: its suite's.

    `groups` holds the paired prompts by task; `trials` and `baseline_trials` are all that ran,
    paired or not.
    """

    submission: Submission
    arm: Arm
    task: Task | None
    groups: tuple[tuple[PromptPairs, ...], ...]
    trials: tuple[Trial, ...]
    baseline_trials: tuple[Trial, ...]
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

    def mean_over_prompts(self, value: Callable[[PromptPairs], float | None]) -> float | None:
        """Geometric mean over the prompts of a task, then over tasks; `None` if one is unknown."""
        groups: list[list[float]] = []
        for group in self.groups:
            values = [each for pairs in group if (each := value(pairs)) is not None]
            if len(values) < len(group):
                return None
            groups.append([math.log(each) for each in values])
        return math.exp(equal_weight_mean(groups))


def scopes(submission: Submission, arm: Arm, pairs: tuple[PromptPairs, ...]) -> Iterator[Scope]:
    """The arm's tasks in the order of the suite, then the fixed tasks together."""
    for task in dict.fromkeys(prompt.task for prompt in submission.suite.prompts):
        yield _scope(submission, arm, pairs, task)
    yield _scope(submission, arm, pairs, None)


def _scope(
    submission: Submission, arm: Arm, pairs: tuple[PromptPairs, ...], task: Task | None
) -> Scope:
    suite = tuple(dict.fromkeys(prompt.task for prompt in submission.suite.prompts))
    own = task is None and submission.tier == "imported" and not {*FIXED_TASKS} <= {*suite}
    tasks = (suite if own else FIXED_TASKS) if task is None else (task,)
    ids = {prompt.id for prompt in submission.suite.prompts if prompt.task in tasks}
    trials = [trial for trial in submission.trials if trial.prompt in ids]
    groups = tuple(tuple(each for each in pairs if each.prompt.task == name) for name in tasks)
    if own and all(groups):
        groups = (tuple(each for group in groups for each in group),)
    return Scope(
        submission=submission,
        arm=arm,
        task=task,
        groups=groups,
        trials=tuple(trial for trial in trials if trial.arm == arm.id),
        baseline_trials=tuple(trial for trial in trials if trial.arm == arm.baseline),
        own_tasks=own,
    )
