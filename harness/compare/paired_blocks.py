"""Times and counters of two builds, for the prompts and blocks that both builds finished.

`PairedBlocks.changed` compares the times of writing an answer, of reading its prompt, or of the
whole request. `harness.compare.comparison` has the formula.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from estimates.intervals import Times, mean_over_tasks, mean_times, time_ratio
from estimates.pairing import PromptPairs
from estimates.repeatability import by_task
from estimates.trial_times import decode_ms_per_token
from schemas.submission import Trial

Counter = Callable[[Sequence[Trial]], float | None]
Logs = NDArray[np.float64]

_FULL_BLOCK = 0.9
_CLIPPED_AT = 3 * 1.4826  # three robust standard deviations, in median absolute deviations


@dataclass(frozen=True, slots=True)
class _Clocked:
    """One prompt timed by one clock: times of base and head in each block, and their medians."""

    base_ms: Sequence[float]
    head_ms: Sequence[float]
    medians: Times


ByClock = Callable[[PromptPairs, Sequence[int]], _Clocked | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedBlocks:
    """The complete blocks, and the prompts that both builds answered in all of these blocks."""

    pairs: tuple[PromptPairs, ...]
    blocks: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Sequence[PromptPairs]) -> "PairedBlocks | None":
        """Select the complete blocks, and the prompts that were answered in all of them.

        A block is complete if it has at least nine tenths of the prompts.
        """
        at = [{trial.block for trial in each.trials} for each in pairs]
        blocks = tuple(
            block
            for block in sorted(set().union(*at))
            if sum(block in own for own in at) >= _FULL_BLOCK * len(pairs)
        )
        kept = tuple(each for each, own in zip(pairs, at, strict=True) if own.issuperset(blocks))
        return cls(pairs=kept, blocks=blocks) if kept and blocks else None

    def changed(self, by_clock: ByClock) -> tuple[float, Logs] | None:
        """Return base's time, and by block the log of base's over head's; `None` if unknown."""
        rows, times, weights = [], [], []
        groups = by_task(self.pairs)
        for group in groups:
            clocked = [found for each in group if (found := by_clock(each, self.blocks))]
            if len(clocked) < len(group):
                return None
            rows += [np.log(np.divide(each.base_ms, each.head_ms)) for each in clocked]
            times.append([each.medians for each in clocked])
            weights += [each.medians[0] / len(group) for each in clocked]
        base_ms, logs = mean_times(times)[0], np.asarray(rows, np.float64)
        shares = np.asarray(weights) / (len(groups) * base_ms)
        middle = float(np.median(logs, axis=-1) @ shares)
        means = block_means(logs, shares) - middle
        return base_ms, means + math.log(time_ratio(times))

    @property
    def prompt_tokens(self) -> float:
        """The mean prompt length over tasks and prompts; 0 if any length is unknown."""
        groups = [[each.prompt.tokens or 0 for each in group] for group in by_task(self.pairs)]
        return mean_over_tasks(groups) if all(map(all, groups)) else 0.0

    def counted(self, value: Counter) -> tuple[Logs, Logs] | None:
        """Return a counter in each block under both builds; `None` if any is unknown or zero."""
        found = [
            value([trial for trial in trials if trial.block == block])
            for trials in (
                [trial for each in self.pairs for trial in each.baseline_trials],
                [trial for each in self.pairs for trial in each.trials],
            )
            for block in self.blocks
        ]
        if not all(found):
            return None
        base, head = np.split(np.asarray(found, np.float64), 2)
        return base, head


def by_writing(pair: PromptPairs, blocks: Sequence[int]) -> _Clocked:
    """Return the times per token in ms under both builds, from which speedups are computed."""
    both = zip(pair.baseline_ms_per_token, pair.ms_per_token, strict=True)
    at = dict(zip((trial.block for trial in pair.trials), both, strict=True))
    base_ms, head_ms = zip(*(at[block] for block in blocks), strict=True)
    return _Clocked(base_ms, head_ms, (pair.baseline_ms, pair.arm_ms))


def by_reading(pair: PromptPairs, blocks: Sequence[int]) -> _Clocked | None:
    return _by_wall(pair, blocks, _reading_ms)


def by_request(pair: PromptPairs, blocks: Sequence[int]) -> _Clocked | None:
    """Return the time of a request, scaled to the median length of base's answers to the prompt."""
    steps = median((trial.output_tokens or 0) - 1 for trial in pair.baseline_trials)

    def request_ms(trial: Trial) -> float | None:
        reading_ms, token_ms = _reading_ms(trial), decode_ms_per_token(trial)
        return reading_ms + steps * token_ms if reading_ms and token_ms else None

    return _by_wall(pair, blocks, request_ms)


def _reading_ms(trial: Trial) -> float | None:
    """Return the time from the request to the first token, always by the client's clock."""
    if trial.wall_ms is None or trial.decode_ms is None or trial.wall_ms <= trial.decode_ms:
        return None
    return trial.wall_ms - trial.decode_ms


def _by_wall(
    pair: PromptPairs, blocks: Sequence[int], ms: Callable[[Trial], float | None]
) -> _Clocked | None:
    found: list[list[float]] = []
    for trials in (pair.baseline_trials, pair.trials):
        at = {trial.block: ms(trial) for trial in trials}
        found.append([each for block in blocks if (each := at[block]) is not None])
    base_ms, head_ms = found
    if min(len(base_ms), len(head_ms)) < len(blocks):
        return None
    return _Clocked(base_ms, head_ms, (median(base_ms), median(head_ms)))


def block_means(logs: Logs, weights: Logs) -> Logs:
    """Return one log ratio per block: the weighted mean over prompts, with outliers clipped.

    The last two axes of `logs` are prompts and blocks.
    """
    middle = np.median(logs, axis=-1, keepdims=True)
    off = logs - middle
    limit = _CLIPPED_AT * np.median(np.abs(off), axis=(-2, -1), keepdims=True)
    return np.asarray(np.einsum("...pb,p->...b", middle + np.clip(off, -limit, limit), weights))
