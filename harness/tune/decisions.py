"""The decisions of a race: its leader, and the arms to drop.

Times are logarithms of milliseconds per token, keyed by arm, prompt and block. Two arms are
compared only on the prompts and blocks that both ran. `bench/tune.py` tests these decisions on
simulated arms whose true speeds are known.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Literal

from estimates.distributions import t_quantile
from estimates.intervals import residuals, spread_of_mean, time_ratio
from estimates.model import Interval
from estimates.pairing import excess
from estimates.trial_times import clock, is_timed, ms_per_token
from harness.run.stopping import PruneDecision
from schemas.submission import Submission

Times = Mapping[str, Mapping[tuple[str, int], float]]

# The assumed error of a forecast ratio of two depths, as a logarithm: the weight of the forecast
# against a few noisy blocks.
FORECAST_ERROR = 0.04
# The number of raced arms, their blocks, and the certificate's repetitions of its prompts: a
# further prompt is more informative about other prompts than a repetition.
RACED = 4
RACE_BLOCKS = 4
CERTIFICATE_BLOCKS = 2
# The level of Student's t at which an arm is dropped; it allows for several looks at several arms.
DROP_LEVEL = 0.985
LEVEL = 0.95
# Arms whose difference is shown to be within this share need no further block.
SAME = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedRatio:
    """An arm's speed divided by a second arm's; there is no interval if the spread is unknown."""

    estimate: float
    interval: Interval | None
    error: float | None = None  # the standard error of its logarithm

    @property
    def slower(self) -> bool:
        """Whether the arm is clearly slower than the second arm."""
        return self.interval is not None and self.interval.high < 1

    @property
    def apart(self) -> float:
        """The largest speed difference that the interval allows, as a logarithm."""
        if self.interval is None:
            return math.inf
        return math.log(max(1 / self.interval.low, self.interval.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(PruneDecision):
    """The state of a race after a block, with its arms by merit."""

    ranked: tuple[str, ...] = ()


def times_of(submission: Submission) -> Times:
    """Return each finished trial's log time per token; all times are by the same clock."""
    timed = tuple(trial for trial in submission.trials if is_timed(trial))
    by = clock(timed)
    found: dict[str, dict[tuple[str, int], float]] = {}
    for arm in submission.arms:
        factor = excess(timed, arm.id)
        for trial in timed:
            ms = ms_per_token(trial, by, factor) if trial.arm == arm.id else None
            if ms is not None:
                found.setdefault(arm.id, {})[trial.prompt, trial.block] = math.log(ms)
    return found


def speed_ratio(
    times: Times, arm: str, over: str, *, level: float = LEVEL, passes: bool = False
) -> SpeedRatio | None:
    """Return an arm's speed relative to a second arm's, over their common prompts and blocks.

    The ratio compares the median time of each prompt, as in a result (`estimates.intervals`). Set
    `passes` if the arms alternate after whole passes. A disturbance then affects every prompt of a
    pass, so the interval also includes the spread between blocks, and a single block has no
    interval. Returns `None` if the arms have no prompt in common.
    """
    pairs = [*_pairs(times, arm, over).values()]
    if not pairs:
        return None
    ratio = SpeedRatio(estimate=time_ratio([pairs]), interval=None)
    parts = [spread_of_mean(residuals([pairs]))]
    if passes:
        blocks = _common(times, arm, over, by=1).values()
        parts.append(spread_of_mean([[fmean(o - a for o, a in block) for block in blocks]]))
    spreads = [part for part in parts if part is not None]
    if len(spreads) < len(parts):
        return ratio
    half = math.hypot(*(error * t_quantile(free, (1 + level) / 2) for error, free in spreads))
    interval = Interval(low=ratio.estimate * math.exp(-half), high=ratio.estimate * math.exp(half))
    return replace(ratio, interval=interval, error=math.hypot(*(error for error, _ in spreads)))


def standing(
    times: Times,
    predicted: Mapping[str, float],
    *,
    running: Collection[str],
    baseline: str,
    passes: bool = False,
) -> Standing:
    """Return the leader among the `running` arms, the arms to drop, and whether the race is over.

    The baseline is not among the `running` arms, because it runs to the end. The race is over once
    the remaining arms are equally fast, or all of them are slower than the baseline, or none runs.
    """
    if not running:
        return Standing(decided=True)
    ranked = merit(times, predicted, running, passes=passes)
    leader, *others = ranked
    ratios = {
        arm: speed_ratio(times, arm, leader, level=DROP_LEVEL, passes=passes) for arm in others
    }
    dropped = frozenset(arm for arm, ratio in ratios.items() if ratio is not None and ratio.slower)
    left = [arm for arm in others if arm not in dropped]
    again = (speed_ratio(times, arm, leader, passes=passes) for arm in left)
    close = all(ratio is not None and ratio.apart < SAME for ratio in again)
    against = (speed_ratio(times, arm, baseline, level=DROP_LEVEL, passes=passes) for arm in ranked)
    lost = all(ratio is not None and ratio.slower for ratio in against)
    return Standing(ranked=ranked, dropped=dropped, decided=close or lost)


def merit(
    times: Times, predicted: Mapping[str, float], running: Collection[str], *, passes: bool = False
) -> tuple[str, ...]:
    """Return the arms, fastest first, by measured differences shrunk towards their forecasts.

    Arms without a measurement come last.
    """
    measured = [arm for arm in running if times.get(arm)]
    if not measured:
        return tuple(sorted(running, key=lambda arm: -predicted.get(arm, 0.0)))
    first = max(measured, key=lambda arm: (len(times[arm]), predicted.get(arm, 0.0)))
    scores = {arm: _drawn(times, predicted, arm, first, passes=passes) for arm in measured}
    rest = [arm for arm in running if arm not in scores]
    return (*sorted(measured, key=lambda arm: -scores[arm]), *rest)


def _drawn(
    times: Times, predicted: Mapping[str, float], arm: str, first: str, *, passes: bool
) -> float:
    found = speed_ratio(times, arm, first, passes=passes)
    if arm == first or found is None:
        return 0.0
    if arm not in predicted or first not in predicted:
        return math.log(found.estimate)
    expected = math.log(predicted[arm] / predicted[first])
    error = FORECAST_ERROR if found.error is None else found.error
    weight = FORECAST_ERROR**2 / (FORECAST_ERROR**2 + error**2)
    return weight * math.log(found.estimate) + (1 - weight) * expected


def _pairs(times: Times, arm: str, over: str) -> dict[str, tuple[float, float]]:
    """Return two arms' ms per token by prompt, `over` first: medians over their common blocks."""
    return {
        prompt: (math.exp(median(o for o, _ in both)), math.exp(median(own for _, own in both)))
        for prompt, both in _common(times, arm, over, by=0).items()
    }


def _common(
    times: Times, arm: str, over: str, *, by: Literal[0, 1]
) -> dict[str, list[tuple[float, float]]]:
    """Return the log times of common trials, `over` first, by prompt (0) or by block (1)."""
    own, other = times.get(arm, {}), times.get(over, {})
    found: dict[str, list[tuple[float, float]]] = {}
    for trial in sorted(own.keys() & other.keys()):
        found.setdefault(str(trial[by]), []).append((other[trial], own[trial]))
    return found
