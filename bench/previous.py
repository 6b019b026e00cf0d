"""Compute the previous estimator, now replaced by the time ratio: geometric means of speedups.

A prompt's figure is the median log ratio over the blocks, a task's figure is the mean over its
prompts, and the overall figure is the mean over tasks with Student's t. The estimator was abandoned
because the time that a user waits is not a geometric mean, and because, in a campaign that ran all
tasks, variation between tasks is not uncertainty.
"""

import math
from statistics import fmean, median

from estimates.intervals import mean_over_tasks, reaching, t_interval
from estimates.model import Interval
from estimates.pairing import PromptPairs
from estimates.ratios import Scope
from estimates.trial_times import decode_ms_per_token


def geometric(scope: Scope) -> tuple[float, Interval | None]:
    """The logarithm of the geometric mean speedup, and the interval that was published with it."""
    groups = [[pairs for pairs in group if pairs.trials] for group in scope.groups]
    if not all(groups):
        return math.nan, None
    logs = [[median(pairs.block_log_ratios) for pairs in group] for group in groups]
    several = len(logs) > 1
    interval = t_interval([*map(fmean, logs)] if several else logs[0])
    if interval is not None and not several:
        interval = interval.at_least(scope.floor)
    if interval is not None:
        interval = interval.wider(max(pairs.clock_half_width for pairs in scope.prompts))
    walls = [[_by_wall(pairs) for pairs in group] for group in groups]
    return mean_over_tasks(logs), reaching(interval, math.exp(mean_over_tasks(walls)))


def _by_wall(pairs: PromptPairs) -> float:
    both = zip(pairs.baseline_trials, pairs.trials, strict=True)
    times = [(decode_ms_per_token(base), decode_ms_per_token(own)) for base, own in both]
    return median(math.log(base / own) for base, own in times if base and own)
