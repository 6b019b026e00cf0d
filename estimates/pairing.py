"""Which trials of an arm are compared with which trials of its baseline?

A pair is one block in which both ran the same prompt and both finished. A trial without such a
partner is counted out: averaging over different prompts or blocks compares different things.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from estimates.trials import clock, is_timed, ms_per_token

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemas.submission import Arm, Prompt, Submission, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPairs:
    """One arm and its baseline on one prompt; entry i of every tuple is the same block."""

    arm: Arm
    prompt: Prompt
    trials: tuple[Trial, ...]
    baseline_trials: tuple[Trial, ...]
    ms_per_token: tuple[float, ...]
    baseline_ms_per_token: tuple[float, ...]

    @property
    def arm_ms(self) -> float:
        """The arm's milliseconds per token: the median over the paired blocks."""
        return median(self.ms_per_token)

    @property
    def baseline_ms(self) -> float:
        """The baseline's milliseconds per token: the median over the same blocks."""
        return median(self.baseline_ms_per_token)

    @property
    def speedup(self) -> float:
        """Ratio of the two medians; above 1 the arm is faster."""
        return self.baseline_ms / self.arm_ms

    @property
    def log_ratio(self) -> float:
        """Natural logarithm of the speedup."""
        return math.log(self.speedup)


def pair(submission: Submission, arm: Arm) -> tuple[PromptPairs, ...]:
    """Pair one arm with its baseline, in the order of the suite; prompts without a pair are out."""
    own = _by_prompt(submission.trials, arm.id)
    base = _by_prompt(submission.trials, arm.baseline)
    compared = (
        _pair_prompt(arm, prompt, own.get(prompt.id, {}), base.get(prompt.id, {}))
        for prompt in submission.suite.prompts
    )
    return tuple(pairs for pairs in compared if pairs is not None)


def _pair_prompt(
    arm: Arm, prompt: Prompt, own: dict[int, Trial], base: dict[int, Trial]
) -> PromptPairs | None:
    blocks = sorted(own.keys() & base.keys())
    if not blocks:
        return None
    trials = tuple(own[block] for block in blocks)
    baseline_trials = tuple(base[block] for block in blocks)
    by = clock(trials + baseline_trials)
    return PromptPairs(
        arm=arm,
        prompt=prompt,
        trials=trials,
        baseline_trials=baseline_trials,
        ms_per_token=tuple(ms for t in trials if (ms := ms_per_token(t, by)) is not None),
        baseline_ms_per_token=tuple(
            ms for t in baseline_trials if (ms := ms_per_token(t, by)) is not None
        ),
    )


def _by_prompt(trials: Iterable[Trial], arm: str | None) -> dict[str, dict[int, Trial]]:
    """Prompt id -> block -> the timed trial of this arm."""
    table: dict[str, dict[int, Trial]] = {}
    for trial in trials:
        if trial.arm == arm and is_timed(trial):
            table.setdefault(trial.prompt, {})[trial.block] = trial
    return table
