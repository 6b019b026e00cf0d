"""What does the processor's own clock say? A second opinion that waiting does not move.

Where the target runs on the CPU, a round's processor time is the work that it took; a program that
takes the core away makes it wait, which only the wall clock counts. On a busy machine the ratio by
processor time is the sharper one (A/A on two shared cores: ±1.3 % against ±4.4 %). It is no speedup
where a GPU does the work, and with threads that spin while they wait it counts the spinning.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from estimates.intervals import equal_weight_mean, stratified_interval, t_interval
from estimates.trials import cpu_ms_per_token

if TYPE_CHECKING:
    from estimates.model import Interval
    from estimates.pairing import PromptPairs
    from estimates.scopes import Scope


def cpu_speedup(scope: Scope) -> tuple[float, Interval | None] | None:
    """Speedup by processor time and its 95 % t interval over prompts, weighted as the speedup is.

    `None` unless the target ran on the CPU and every paired trial recorded its processor time.
    """
    if scope.submission.engine.backend != "cpu":
        return None
    groups = [[cpu_log_ratio(pairs) for pairs in group] for group in scope.groups]
    known = [[value for value in group if value is not None] for group in groups]
    if known != groups:
        return None
    interval = stratified_interval(known) if scope.task is None else t_interval(known[0])
    return math.exp(equal_weight_mean(known)), interval


def cpu_log_ratio(pairs: PromptPairs) -> float | None:
    """Logarithm of baseline over arm processor time per token: the median over paired blocks."""
    ratios: list[float] = []
    for base, own in zip(pairs.baseline_trials, pairs.trials, strict=True):
        base_ms, own_ms = cpu_ms_per_token(base), cpu_ms_per_token(own)
        if base_ms is None or own_ms is None:
            return None
        ratios.append(math.log(base_ms / own_ms))
    return median(ratios)
