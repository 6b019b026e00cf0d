"""Which trials of an arm are compared with which trials of its baseline?

A pair is one block in which both ran the same prompt and both finished. A trial without such a
partner is counted out: averaging over different prompts or blocks compares different things. The
two of a pair ran within seconds of each other, so each pair is one measurement of the ratio.
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
    def block_log_ratios(self) -> tuple[float, ...]:
        """Natural logarithm of baseline over arm time, one per block."""
        both = zip(self.baseline_ms_per_token, self.ms_per_token, strict=True)
        return tuple(math.log(base / own) for base, own in both)

    @property
    def log_ratio(self) -> float:
        """Natural logarithm of the speedup: the median over the blocks.

        Not the ratio of two medians: where the machine's speed changes between blocks, the two
        medians may come from different blocks, and the change passes for a difference of the arms.
        """
        return median(self.block_log_ratios)

    @property
    def speedup(self) -> float:
        """How many times as fast as its baseline the arm is."""
        return math.exp(self.log_ratio)


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
