"""Pair each trial of an arm with the baseline's trial of the same prompt and block.

A pair is one block in which arm and baseline both ran the same prompt and finished. A trial without
such a partner does not count, because averages over different prompts or blocks are not comparable.
The exception is a trial that timed out although the baseline finished. It counts with the time
limit, because prompts that are too slow to finish are not missing at random.

A machine that slows down affects all arms of a block. But with three blocks or more, the medians of
two arms may come from different blocks. Each time is therefore first divided by the pace of its
block. With two blocks this is unnecessary, because the median is the mean and uses both blocks.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import truediv
from statistics import fmean, median

from estimates.decomposition import tokens_per_round
from estimates.trial_times import (
    clock,
    decode_ms_per_token,
    is_timed,
    round_ms_of,
    times_ms,
)
from schemas.submission import Arm, Prompt, Submission, Task, Trial

NORMAL_95 = 1.96
_BLOCKS_WITH_A_PACE = 3


def excess(trials: Iterable[Trial], arm: str | None) -> float:
    """The median, over an arm's trials, of a trial's time / its `round_ms_of`; 1 if unknown."""
    return _timed(trials, arm).excess


@dataclass(frozen=True, slots=True)
class _Arm:
    """The timed trials of one arm by prompt and block, and the accuracy of its medians.

    `excess` is the median ratio of a trial's time to its `round_ms_of`, over all trials; 1 if
    unknown. Short stalls are likelier in a long round than in a short one, so medians alone favour
    the arm with the shorter rounds. Stalls in few trials do not change the excess. `half_width` is
    half the width of the excess's 95 % interval, as a logarithm; 0 if unknown.
    """

    by_prompt: dict[str, dict[int, Trial]]
    excess: float
    half_width: float


def _timed(trials: Iterable[Trial], arm: str | None) -> _Arm:
    table: dict[str, dict[int, Trial]] = {}
    excesses: list[float] = []
    for trial in trials:
        if trial.arm == arm and is_timed(trial):
            table.setdefault(trial.prompt, {})[trial.block] = trial
            round_ms = round_ms_of(trial)
            if trial.decode_ms and round_ms is not None:
                excesses.append(trial.decode_ms / round_ms)
    if not excesses:
        return _Arm(table, 1.0, 0.0)
    return _Arm(table, median(excesses), median_half_width([math.log(each) for each in excesses]))


def median_half_width(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of a median of one or more values, for any distribution.

    The bounds are order statistics: of n sorted values, the values j places from either end, with j
    = (n - 1.96 sqrt(n)) / 2 rounded down (Conover, Practical Nonparametric Statistics, 3.2).
    """
    ordered = sorted(values)
    place = max(0, math.floor((len(ordered) - NORMAL_95 * math.sqrt(len(ordered))) / 2))
    return (ordered[-1 - place] - ordered[place]) / 2


def plain_tps(submission: Submission) -> float | None:
    """Tokens/s of the first baseline with one request at a time; `None` if it was never timed."""
    alone = (
        arm for arm in submission.arms if arm.role == "baseline" and (arm.concurrency or 1) == 1
    )
    base = next(alone, None)
    return None if base is None else stream_tps(submission, base)


def stream_tps(submission: Submission, arm: Arm) -> float | None:
    """An arm's tokens/s per request: the inverse of its mean time per token.

    As in a speedup, times are medians over blocks, then means over prompts, then over tasks.
    """
    group = {each: _timed(submission.trials, each) for each in _compared(submission, arm)}
    own = group[arm.id]
    times: dict[Task, list[float]] = {}
    for prompt in submission.suite.prompts:
        if found := own.by_prompt.get(prompt.id):
            trials, paces = tuple(found.values()), _paces(group.values(), prompt.id)
            every_ms = times_ms(trials, clock(trials), own.excess)
            paced = (ms / paces[block] for block, ms in zip(found, every_ms, strict=True))
            times.setdefault(prompt.task, []).append(median(paced))
    return 1000 / fmean(map(fmean, times.values())) if times else None


@dataclass(frozen=True, eq=False, kw_only=True)
class PromptPairs:
    """An arm and its baseline on one prompt; entry i of every tuple is from the same block.

    All times are divided by the pace of their block; `paces` are the paces of `trials`.
    `clock_half_width` is the error that both arms' excesses add to the logarithm of a ratio; 0 if
    times are by the wall clock. `failed` has the baseline's and the arm's times for the blocks in
    which the arm timed out; there the arm's time is a lower bound.
    """

    arm: Arm
    prompt: Prompt
    trials: tuple[Trial, ...]
    baseline_trials: tuple[Trial, ...]
    paces: tuple[float, ...]
    ms_per_token: tuple[float, ...]
    baseline_ms_per_token: tuple[float, ...]
    clock_half_width: float
    failed: tuple[tuple[float, float], ...] = ()

    @cached_property
    def arm_ms(self) -> float:
        """The arm's milliseconds per token: the median over the paired blocks."""
        return median((*self.ms_per_token, *(own for _, own in self.failed)))

    @cached_property
    def baseline_ms(self) -> float:
        """The baseline's milliseconds per token: the median over the same blocks."""
        return median((*self.baseline_ms_per_token, *(base for base, _ in self.failed)))

    @property
    def at_most(self) -> bool:
        """Whether the arm's time is a lower bound: at least half of its trials timed out."""
        return len(self.failed) >= max(1, len(self.trials))

    @cached_property
    def block_log_ratios(self) -> tuple[float, ...]:
        """The log of baseline time over arm time, in each block that both finished."""
        both = zip(self.baseline_ms_per_token, self.ms_per_token, strict=True)
        return tuple(math.log(base / own) for base, own in both)

    @cached_property
    def wall_ms(self) -> tuple[float, float] | None:
        """Baseline's and arm's ms per token by the wall clock; `None` if either is unknown."""
        return self.times(decode_ms_per_token)

    @cached_property
    def times_by_block(self) -> dict[int, tuple[float, float]]:
        """Both arms' times by block, not corrected for pace, which would equalise blocks."""
        both = zip(self.baseline_ms_per_token, self.ms_per_token, strict=True)
        paced = zip(self.trials, both, self.paces, strict=True)
        return {trial.block: (base * pace, own * pace) for trial, (base, own), pace in paced}

    @cached_property
    def tokens_per_round(self) -> float | None:
        """The arm's tokens per round."""
        return tokens_per_round(self.trials)

    @cached_property
    def round_cost(self) -> float | None:
        """R, the cost of a round in baseline tokens: tokens per round divided by the speedup."""
        tokens = self.tokens_per_round
        return None if tokens is None else tokens / self.speedup

    def times(self, ms: Callable[[Trial], float | None]) -> tuple[float, float] | None:
        """The baseline's and the arm's median of `ms`; `None` if a trial lacks a value."""
        base = [found for trial in self.baseline_trials if (found := ms(trial))]
        own = [found for trial in self.trials if (found := ms(trial))]
        if len(base) < len(self.baseline_trials) or len(own) < len(self.trials):
            return None
        base, own = [*map(truediv, base, self.paces)], [*map(truediv, own, self.paces)]
        return (
            median((*base, *(each for each, _ in self.failed))),
            median((*own, *(each for _, each in self.failed))),
        )

    @cached_property
    def speedup(self) -> float:
        """The speedup of the arm over its baseline: the ratio of the two medians."""
        return self.baseline_ms / self.arm_ms


def pair(submission: Submission, arm: Arm) -> tuple[PromptPairs, ...]:
    """Pair one arm with its baseline, in the order of the suite, without unpaired prompts."""
    return pair_all(submission, (arm,))[arm.id]


def pair_all(submission: Submission, arms: Iterable[Arm]) -> dict[str, tuple[PromptPairs, ...]]:
    """The pairs of several arms, by arm id; the trials of a shared baseline are read once."""
    timed = cache(partial(_timed, submission.trials))
    most_steps = (submission.settings.max_output_tokens or 1) - 1
    found: dict[str, tuple[PromptPairs, ...]] = {}
    for arm in arms:
        group = {each: timed(each) for each in _compared(submission, arm)}
        limits = _limits(submission.trials, arm.id, most_steps)
        compared = (
            _pair_prompt(arm, prompt, group, limits.get(prompt.id, {}))
            for prompt in submission.suite.prompts
        )
        found[arm.id] = tuple(pairs for pairs in compared if pairs is not None)
    return found


def _compared(submission: Submission, arm: Arm) -> list[str]:
    """The ids of an arm, its baseline and that baseline's other arms, which share blocks."""
    base = arm.baseline or arm.id
    others = (each.id for each in submission.arms if each.baseline == base)
    return list(dict.fromkeys((base, arm.id, *others)))


def _paces(group: Iterable[_Arm], prompt: str) -> dict[int, float]:
    """The machine's pace in each block of a prompt: 1 is usual, 2 means twice the usual time.

    The pace is the total time of the arms in a block over the sum of their medians over blocks.
    With fewer than three blocks it is 1.
    """
    arms = [(arm, found) for arm in group if (found := arm.by_prompt.get(prompt))]
    by = clock(tuple(trial for _, found in arms for trial in found.values()))
    taken: dict[int, float] = {}
    usual: dict[int, float] = {}
    for arm, found in arms:
        times = dict(zip(found, times_ms(found.values(), by, arm.excess), strict=True))
        middle = median(times.values())
        for block, ms in times.items():
            taken[block] = taken.get(block, 0.0) + ms
            usual[block] = usual.get(block, 0.0) + middle
    if len(taken) < _BLOCKS_WITH_A_PACE:
        return dict.fromkeys(taken, 1.0)
    return {block: taken[block] / usual[block] for block in taken}


def _limits(trials: Iterable[Trial], arm: str, most_steps: int) -> dict[str, dict[int, float]]:
    """A lower bound on the ms per token of an arm's timed-out trials, by prompt and block.

    The bound is the time until the timeout over the most tokens that the trial could have written.
    Trials that failed for a different reason show nothing about speed.
    """
    found: dict[str, dict[int, float]] = {}
    for trial in trials:
        if trial.arm == arm and trial.reason == "timed-out" and trial.wall_ms and most_steps > 0:
            found.setdefault(trial.prompt, {})[trial.block] = trial.wall_ms / most_steps
    return found


def _pair_prompt(
    arm: Arm, prompt: Prompt, group: Mapping[str, _Arm], limits: Mapping[int, float]
) -> PromptPairs | None:
    arm_timed, base_timed = group[arm.id], group[arm.baseline or arm.id]
    own = arm_timed.by_prompt.get(prompt.id, {})
    base = base_timed.by_prompt.get(prompt.id, {})
    blocks, failed = sorted(own.keys() & base.keys()), sorted(limits.keys() & base.keys())
    if not blocks and not failed:
        return None
    trials = tuple(own[block] for block in blocks)
    baseline_trials = tuple(base[block] for block in blocks)
    by = clock((*trials, *baseline_trials, *(base[block] for block in failed)))
    by_block = _paces(group.values(), prompt.id)
    paces = tuple(by_block[block] for block in blocks)
    own_ms = times_ms(trials, by, arm_timed.excess)
    base_ms = times_ms(baseline_trials, by, base_timed.excess)
    return PromptPairs(
        arm=arm,
        prompt=prompt,
        trials=trials,
        baseline_trials=baseline_trials,
        paces=paces,
        ms_per_token=tuple(map(truediv, own_ms, paces)),
        baseline_ms_per_token=tuple(map(truediv, base_ms, paces)),
        clock_half_width=(
            math.hypot(arm_timed.half_width, base_timed.half_width) if by == "steady" else 0.0
        ),
        failed=tuple(
            (ms / by_block[block], limits[block] / by_block[block])
            for block in failed
            for ms in times_ms([base[block]], by, base_timed.excess)
        ),
    )
