"""Flags about speedups that depend on the clock."""

import math
from statistics import fmean

from estimates.client_clock import apart, only_requests
from estimates.flags.observation import FlagEvidence, Observation, bounds, only


def stalls(evidence: FlagEvidence) -> Observation | None:
    """The interval was widened to contain the ratio of the times with stalls included."""
    beyond = [
        (estimate.wall_speedup, estimate)
        for estimate in evidence.estimates
        if estimate.wall_speedup is not None and estimate.interval is not None
        if estimate.interval.low < estimate.interval.high
        if estimate.wall_speedup in (estimate.interval.low, estimate.interval.high)
    ]
    if not beyond:
        return None
    wall, worst = max(beyond, key=lambda pair: abs(math.log(pair[0] / (pair[1].speedup or 1.0))))
    return Observation(
        worst_arm=worst.arm,
        wall=wall,
        scope=worst.scope,
        steady=worst.speedup or 1.0,
        arm=only(estimate.arm for _, estimate in beyond),
    )


def whole_requests_only(evidence: FlagEvidence) -> Observation | None:
    """The times of whole requests contradict the token times that the client saw."""
    submission = evidence.submission
    arms = [arm for arm in submission.arms if only_requests(submission, arm)]
    if not arms:
        return None
    names = [arm.id for arm in arms]
    found = [each for each in evidence.estimates if each.arm in names]
    known = any(each.whole_request is not None for each in found)
    factor = max(
        (math.exp(-apart(submission, arm)) for arm in arms), key=lambda x: abs(math.log(x))
    )
    return Observation(
        arms=names, factor=factor, arm=only(names), case="known" if known else "unknown"
    )


def processor_time_disagrees(evidence: FlagEvidence) -> Observation | None:
    """On a CPU backend, processor time and wall time give different speedups."""
    if evidence.submission.engine.backend != "cpu":
        return None
    factors: dict[str, float] = {}
    for arm in evidence.submission.arms:
        own = [pairs for pairs in evidence.pairs if pairs.arm.id == arm.id]
        timed = [(cpu_ms, pairs.speedup) for pairs in own if (cpu_ms := pairs.cpu_ms) is not None]
        # The logarithm of the speedup by processor time over that by wall time, within blocks.
        apart = [math.log(base / arm_ms / by_wall) for (base, arm_ms), by_wall in timed]
        if (
            apart
            and len(apart) == len(own)
            and abs(math.expm1(fmean(apart))) > bounds("processor-time-disagrees")["apart"]
        ):
            factors[arm.id] = math.exp(fmean(apart))
    listed = [f"{factor:.2f} times as large for {arm}" for arm, factor in factors.items()]
    return Observation(factors=listed, arm=only(factors)) if factors else None
