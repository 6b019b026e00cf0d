"""Pair each trial of an arm with the baseline's trial of the same prompt and block.

A pair is one block in which both ran the same prompt and both finished. A trial without such a
partner does not count: averages over different prompts or blocks are not comparable. The two trials
of a pair ran within seconds of each other, so each pair is one measurement of the ratio.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import mul
from statistics import median
from typing import Literal

from schemas.submission import Arm, Prompt, Submission, Trial

Clock = Literal["steady", "decode"]

NORMAL_95 = 1.96


def is_timed(trial: Trial) -> bool:
    """Whether the trial finished with at least one token after the first, in measurable time."""
    return bool(trial.decode_ms) and _steps(trial) is not None


def clock(trials: tuple[Trial, ...]) -> Clock:
    """The clock that all of these trials have: two clocks are never compared with each other."""
    return "steady" if all(_round_ms(trial) is not None for trial in trials) else "decode"


def ms_per_token(trial: Trial, by: Clock | None = None, excess: float = 1.0) -> float | None:
    """Milliseconds per token after the first; `None` when the trial failed or made one token.

    `by` chooses the clock; without it the rounds are used where they were timed. The steady clock
    is the sum over the widths of (median duration x rounds), times the arm's `excess`.
    """
    round_ms = None if by == "decode" else _round_ms(trial)
    if by == "decode" or (by is None and round_ms is None):
        return decode_ms_per_token(trial)
    steps = _steps(trial)
    return None if steps is None or round_ms is None else round_ms * excess / steps


def excess(trials: Iterable[Trial], arm: str | None) -> float:
    """How much longer an arm's trials take than their median rounds; 1 where it is unknown."""
    return _timed(trials, arm).excess


@dataclass(frozen=True, slots=True)
class _Arm:
    """The timed trials of one arm by prompt and block, and how far its medians can be trusted.

    `excess`: how much longer the trials take than their median rounds, the median over all; 1 where
    it is unknown. Short stalls hit a long round more surely than a short one, so that medians alone
    favour the arm with the shorter rounds. A stall that few trials have leaves this alone.
    `half_width`: of its 95 % interval, as a logarithm; 0 where it is unknown.
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
            round_ms = _round_ms(trial)
            if trial.decode_ms and round_ms is not None:
                excesses.append(trial.decode_ms / round_ms)
    if not excesses:
        return _Arm(table, 1.0, 0.0)
    return _Arm(table, median(excesses), median_half_width([math.log(each) for each in excesses]))


def median_half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the median of at least one value, whatever its distribution.

    Between order statistics: of n sorted values, those j places from either end, with
    j = (n - 1.96 sqrt(n)) / 2 rounded down (Conover, Practical Nonparametric Statistics, 3.2).
    """
    ordered = sorted(values)
    place = max(0, math.floor((len(ordered) - NORMAL_95 * math.sqrt(len(ordered))) / 2))
    return (ordered[-1 - place] - ordered[place]) / 2


def plain_tps(submission: Submission) -> float | None:
    """Tokens/s of the first baseline for one request at a time: the median of the prompts."""
    alone = (
        arm for arm in submission.arms if arm.role == "baseline" and (arm.concurrency or 1) == 1
    )
    base = next((arm.id for arm in alone), None)
    times: dict[str, list[float]] = {}
    for trial in submission.trials:
        ms = ms_per_token(trial) if trial.arm == base else None
        if ms is not None:
            times.setdefault(trial.prompt, []).append(ms)
    return median(1000 / median(each) for each in times.values()) if times else None


def decode_ms_per_token(trial: Trial) -> float | None:
    """Milliseconds per token by the plain clock, stalls included."""
    steps = _steps(trial)
    return trial.decode_ms / steps if steps and trial.decode_ms else None


def cpu_ms_per_token(trial: Trial) -> float | None:
    """Processor milliseconds per token over all threads, from the medians of the rounds."""
    steps = _steps(trial)
    cpu_ms = _weighted(trial.drafted_histogram, trial.round_cpu_ms_median)
    return cpu_ms / steps if steps and cpu_ms else None


def rounds(trial: Trial) -> int | None:
    """Rounds of a finished trial: as counted, or output_tokens - 1 - accepted.

    `None` where accepted tokens leave no round over: then that counter counts something else.
    """
    if trial.rounds is not None:
        return trial.rounds
    if trial.output_tokens is None or trial.accepted is None:
        return None
    derived = trial.output_tokens - 1 - trial.accepted
    return derived if derived > 0 else None


def _steps(trial: Trial) -> int | None:
    """Tokens after the first, which prompt processing yields."""
    if trial.outcome != "ok" or trial.output_tokens is None or trial.output_tokens < 2:  # noqa: PLR2004 - the first token has no decode time
        return None
    return trial.output_tokens - 1


def _round_ms(trial: Trial) -> float | None:
    return _weighted(trial.drafted_histogram, trial.round_ms_median)


def _weighted(histogram: tuple[int, ...] | None, medians: tuple[float, ...] | None) -> float | None:
    """Sum of median x rounds over the drafted lengths that occurred; `None` if not recorded."""
    if histogram is None or medians is None:
        return None
    counts = [count for count in histogram if count]
    if len(counts) != len(medians) or not counts:
        return None
    return float(sum(map(mul, counts, medians)))


@dataclass(frozen=True, eq=False, kw_only=True)
class PromptPairs:
    """One arm and its baseline on one prompt; entry i of every tuple is the same block.

    Many figures are made of these, so each is computed once. `clock_half_width` is the
    error that both excesses bring to the logarithm of every ratio of the arm; 0 by the wall clock.
    """

    arm: Arm
    prompt: Prompt
    trials: tuple[Trial, ...]
    baseline_trials: tuple[Trial, ...]
    ms_per_token: tuple[float, ...]
    baseline_ms_per_token: tuple[float, ...]
    clock_half_width: float

    @cached_property
    def arm_ms(self) -> float:
        """The arm's milliseconds per token: the median over the paired blocks."""
        return median(self.ms_per_token)

    @cached_property
    def baseline_ms(self) -> float:
        """The baseline's milliseconds per token: the median over the same blocks."""
        return median(self.baseline_ms_per_token)

    @cached_property
    def block_log_ratios(self) -> tuple[float, ...]:
        """Natural logarithm of baseline over arm time, one per block."""
        both = zip(self.baseline_ms_per_token, self.ms_per_token, strict=True)
        return tuple(math.log(base / own) for base, own in both)

    @cached_property
    def log_ratio(self) -> float:
        """Natural logarithm of the speedup: the median over the blocks.

        Not the ratio of two medians: where the machine's speed changes between blocks, the two
        medians may come from different blocks, and the change passes for a difference of the arms.
        """
        return median(self.block_log_ratios)

    @cached_property
    def wall_log_ratio(self) -> float | None:
        """The same by the plain clock, stalls included; `None` where that is not known."""
        return self._log_ratio_by(decode_ms_per_token)

    @cached_property
    def cpu_log_ratio(self) -> float | None:
        """The same by processor time; `None` where a trial did not record it."""
        return self._log_ratio_by(cpu_ms_per_token)

    def _log_ratio_by(self, ms: Callable[[Trial], float | None]) -> float | None:
        both = zip(self.baseline_trials, self.trials, strict=True)
        times = [(ms(base), ms(own)) for base, own in both]
        logs = [math.log(base / own) for base, own in times if base and own]
        return median(logs) if len(logs) == len(times) else None

    @cached_property
    def speedup(self) -> float:
        """How many times as fast as its baseline the arm is."""
        return math.exp(self.log_ratio)


def pair(submission: Submission, arm: Arm) -> tuple[PromptPairs, ...]:
    """Pair one arm with its baseline, in the order of the suite; prompts without a pair are out."""
    return pair_all(submission, (arm,))[arm.id]


def pair_all(submission: Submission, arms: Iterable[Arm]) -> dict[str, tuple[PromptPairs, ...]]:
    """The pairs of several arms by id; what arms have in common, a baseline, is read once."""
    timed = cache(partial(_timed, submission.trials))
    found: dict[str, tuple[PromptPairs, ...]] = {}
    for arm in arms:
        own, base = timed(arm.id), timed(arm.baseline)
        compared = (_pair_prompt(arm, prompt, own, base) for prompt in submission.suite.prompts)
        found[arm.id] = tuple(pairs for pairs in compared if pairs is not None)
    return found


def _pair_prompt(arm: Arm, prompt: Prompt, arm_timed: _Arm, base_timed: _Arm) -> PromptPairs | None:
    own = arm_timed.by_prompt.get(prompt.id, {})
    base = base_timed.by_prompt.get(prompt.id, {})
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
        ms_per_token=tuple(
            ms for t in trials if (ms := ms_per_token(t, by, arm_timed.excess)) is not None
        ),
        baseline_ms_per_token=tuple(
            ms
            for t in baseline_trials
            if (ms := ms_per_token(t, by, base_timed.excess)) is not None
        ),
        clock_half_width=(
            math.hypot(arm_timed.half_width, base_timed.half_width) if by == "steady" else 0.0
        ),
    )
