"""The decisions of a tune: the leader of its race, the arms to drop, the certified verdict.

Times are logarithms of milliseconds per token, keyed by arm, prompt and block. Two arms are
compared only on the prompts and blocks that both ran. `bench/tune.py` tests these decisions on
simulated arms whose true speeds are known.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Literal

from estimates.distributions import t_quantile
from estimates.intervals import (
    Strata,
    choice_factor,
    residuals,
    spread_of_mean,
    t_reach,
    time_ratio,
)
from estimates.model import Interval
from estimates.pairing import excess
from estimates.trial_times import clock, is_timed, ms_per_token
from harness.run.stopping import PruneDecision
from schemas.codec import Json
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

    def as_json(self) -> dict[str, Json]:
        low, high = (self.interval.low, self.interval.high) if self.interval else (None, None)
        return {"estimate": self.estimate, "low": low, "high": high}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(PruneDecision):
    """The state of a race after a block, with its arms by merit."""

    ranked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A tune's verdict: the arm to use (`None` for no speculation), and the best arm's speed ratio.

    `undecided` is set if the best arm is not clearly faster or slower than no speculation: it is
    their largest possible difference, as a logarithm.
    """

    pick: str | None
    best: str
    gain: SpeedRatio
    undecided: float | None = None


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


def inseparable(
    times: Times, arms: Sequence[str], pick: str, *, passes: bool = False
) -> tuple[tuple[str, ...], float]:
    """Return the arms that may be as fast as the pick, and their largest relative difference."""
    close: dict[str, float] = {}
    for arm in arms:
        found = None if arm == pick else speed_ratio(times, arm, pick, passes=passes)
        if found is not None and found.interval is not None and not found.slower:
            close[arm] = math.expm1(found.apart)
    return tuple(close), max(close.values(), default=0.0)


def certify(  # noqa: PLR0913 - two stages, and who ran in them
    race: Times,
    certificate: Times,
    *,
    best: str,
    rival: str | None,
    baseline: str,
    tasks: Mapping[str, str] | None = None,
    passes: bool = False,
) -> Verdict | None:
    """Return the verdict after the certificate; `None` if the best arm has too few trials.

    Race and certificate together choose between the best arm and its rival. The certificate alone
    decides whether speculation helps, and by how much: the arms were chosen on the race's prompts,
    which are therefore biased in the arms' favour. The bounds allow for the choice between the best
    arm and its rival. `tasks` has every prompt's task; it is ignored if arms alternate after whole
    `passes`.
    """
    if rival is not None:
        stages = (_common(times, rival, best, by=0) for times in (race, certificate))
        # The sum over both stages weights each stage by its number of prompts.
        if sum(median(o - r for o, r in each) for stage in stages for each in stage.values()) > 0:
            best = rival
    gain = speed_ratio(certificate, best, baseline, passes=passes)
    if gain is None or gain.interval is None:
        return None
    groups: dict[str, list[tuple[float, float]]] = {}
    for prompt, pair in _pairs(certificate, best, baseline).items():
        task = "" if passes or tasks is None else tasks[prompt]
        groups.setdefault(task, []).append(pair)
    least, most = _bounds([*groups.values()], gain, choices=1 if rival is None else 2)
    return Verdict(
        pick=best if least > 0 else None,
        best=best,
        gain=gain,
        undecided=max(-least, most) if least <= 0 < most else None,
    )


def _bounds(strata: Strata, gain: SpeedRatio, *, choices: int) -> tuple[float, float]:
    """Return bounds on the log speedup over exactly these tasks, corrected for `choices` arms.

    The bounds are computed from the spread within each task. If there is only one task, or one has
    fewer than two prompts, they are computed from `gain`, which pools all prompts.
    """
    sizes = [*map(len, strata)]
    mean, error, freedom = math.log(gain.estimate), gain.error or math.inf, sum(sizes) - 1.0
    spread = spread_of_mean(residuals(strata))
    if len(strata) > 1 and min(sizes) > 1 and spread is not None:
        mean, (error, freedom) = math.log(time_ratio(strata)), spread
    half = error * t_reach(freedom) * choice_factor(choices)
    return mean - half, mean + half


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
