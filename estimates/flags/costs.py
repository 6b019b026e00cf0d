"""Flags about costs of rounds that disagree with one another or with the probes."""

import math
from collections.abc import Iterator, Mapping
from statistics import fmean, median

from estimates.decomposition import round_cost, step_ms
from estimates.flags.baseline import uneven_groups
from estimates.flags.evidence import Evidence, only, steady_length
from estimates.flags.spread import steady_groups
from estimates.intervals import deviation
from estimates.model import Estimate, Flag, Interval
from estimates.pairing import PromptPairs, cpu_ms_per_token, rounds
from estimates.ratios import controls
from estimates.verdicts import judge
from schemas.submission import Trial
from schemas.vocabulary import say

ROUND_COST_CV = 0.10
ROUND_COST_FAR = 0.25
PROBE_FACTOR = 1.3
UNEXPLAINED = 0.25
_FEWEST_PROMPTS = 3
# Without a histogram only the mean drafted length is known; the same mean can be made up of other
# lengths, so more is allowed.
SIMILAR_LENGTH = 0.5
ROUND_COST_FAR_BY_SUMS = 0.5


def round_cost_spread(evidence: Evidence) -> Flag | None:
    """R differs over prompts although every round does the same work.

    Only prompts whose repetitions agree count, and whose baseline is like that of the others: other
    flags are about unsteady machines.
    """
    found: list[tuple[float, str, str]] = []
    for arm, costs in _costs_of_equal_rounds(evidence):
        far, prompt = _farthest(costs)
        spread = deviation([*costs.values()]) / fmean(costs.values())
        if spread > ROUND_COST_CV or far > ROUND_COST_FAR:
            found.append((spread, arm, prompt))
    for arm, costs in _costs_of_similar_rounds(evidence):
        far, prompt = _farthest(costs)
        if far > ROUND_COST_FAR_BY_SUMS:
            found.append((deviation([*costs.values()]) / fmean(costs.values()), arm, prompt))
    if not found:
        return None
    spread, arm, prompt = max(found)
    return Flag(
        name="round-cost-spread",
        severity="serious",
        message=(
            f"The cost of a round varies by {say.percent(spread)} over the prompts of {arm}, "
            f"most on {prompt}, where clean runs vary by 1 to 2 %."
        ),
        remedy="A trial of it or of its baseline was disturbed; measure again.",
        arm=only(each for _, each, _ in found),
        prompt=prompt,
    )


def probe_disagrees(evidence: Evidence) -> Flag | None:
    """The baseline's time per token is in no block the probed time of a single step."""
    probes = evidence.submission.probes
    single_ms = step_ms(probes.verification, 1) if probes and probes.verification else None
    factors = {
        arm.id: factor
        for arm in evidence.submission.arms
        if arm.role == "baseline" and single_ms is not None
        if (factor := _nearest_factor(evidence, arm.id, single_ms)) is not None
        if max(factor, 1 / factor) > PROBE_FACTOR
    }
    if not factors:
        return None
    listed = [f"{factor:.2f} times in {arm}" for arm, factor in factors.items()]
    return Flag(
        name="probe-disagrees",
        severity="caution",
        message=f"A plain token takes {say.listed(listed)} what the probed single step took.",
        remedy="The machine changed between probes and trials, or arms are mixed up.",
        arm=only(factors),
    )


def prediction_missed(evidence: Evidence) -> Flag | None:
    """Measured and predicted speedup are far apart, and the interval does not explain it."""
    missed = [estimate for estimate in evidence.estimates if _is_missed(estimate)]
    if not missed:
        return None
    worst = max(missed, key=lambda estimate: abs(math.log(1 + (estimate.unexplained or 0.0))))
    arms = list(dict.fromkeys(estimate.arm for estimate in missed))
    return Flag(
        name="prediction-missed",
        severity="caution",
        message=(
            f"The probes do not predict what {say.listed(arms)} measured; most on "
            f"{worst.scope} with {worst.arm}: "
            f"{worst.predicted_speedup:.2f}x predicted, {worst.speedup:.2f}x measured."
        ),
        remedy="Check overheads outside the model, and that arms are not mixed up.",
        arm=only(arms),
    )


def _nearest_factor(evidence: Evidence, arm: str, single_ms: float) -> float | None:
    """The arm's time per token over a probed step, in the block where they agree best."""
    by_block: dict[int, list[float]] = {}
    for group in evidence.repeats:
        if group.arm == arm:
            for trial, ms in zip(group.trials, group.ms_per_token, strict=True):
                by_block.setdefault(trial.block, []).append(ms / single_ms)
    factors = [median(block) for block in by_block.values()]
    return min(factors, key=lambda factor: max(factor, 1 / factor), default=None)


def _costs_of_equal_rounds(evidence: Evidence) -> Iterator[tuple[str, dict[str, float]]]:
    """Arm and R by prompt, apart for each drafted length that nearly all rounds had."""
    steady = steady_groups(evidence) - uneven_groups(evidence)
    groups: dict[tuple[str, int], dict[str, float]] = {}
    for pairs in evidence.pairs:
        lengths = {steady_length(trial) for trial in pairs.trials}
        length = lengths.pop()
        cost = round_cost(pairs)
        both = {(pairs.arm.id, pairs.prompt.id), (pairs.arm.baseline or "", pairs.prompt.id)}
        if length is not None and not lengths and cost is not None and both <= steady:
            groups.setdefault((pairs.arm.id, length), {})[pairs.prompt.id] = cost
    for (arm, _), costs in groups.items():
        if len(costs) >= _FEWEST_PROMPTS:
            yield arm, costs


def _costs_of_similar_rounds(evidence: Evidence) -> Iterator[tuple[str, dict[str, float]]]:
    """Arm and R by prompt where only sums are known, apart for similar mean drafted lengths."""
    steady = steady_groups(evidence) - uneven_groups(evidence)
    by_arm: dict[str, list[tuple[float, str, float]]] = {}
    for pairs in evidence.pairs:
        length, cost = _mean_length(pairs.trials), round_cost(pairs)
        both = {(pairs.arm.id, pairs.prompt.id), (pairs.arm.baseline or "", pairs.prompt.id)}
        if length is not None and cost is not None and both <= steady:
            by_arm.setdefault(pairs.arm.id, []).append((length, pairs.prompt.id, cost))
    for arm, found in by_arm.items():
        for length, _, _ in found:
            near = {p: cost for other, p, cost in found if abs(other - length) <= SIMILAR_LENGTH}
            if len(near) >= _FEWEST_PROMPTS:
                yield arm, near


def _mean_length(trials: tuple[Trial, ...]) -> float | None:
    """Drafted tokens per round where these two sums are all that is known."""
    counts = [rounds(trial) for trial in trials]
    if any(trial.drafted_histogram is not None or not trial.drafted for trial in trials):
        return None
    known = sum(count or 0 for count in counts)
    return sum(trial.drafted or 0 for trial in trials) / known if all(counts) else None


def _farthest(costs: Mapping[str, float]) -> tuple[float, str]:
    center = median(costs.values())
    return max((max(cost / center, center / cost) - 1, prompt) for prompt, cost in costs.items())


def _is_missed(estimate: Estimate) -> bool:
    predicted, interval = estimate.predicted_speedup, estimate.interval
    if predicted is None or interval is None or abs(estimate.unexplained or 0.0) <= UNEXPLAINED:
        return False
    return not interval.low <= predicted <= interval.high


OVERHEAD = 0.03
CLOCKS_APART = 0.10


def control_excludes_one(evidence: Evidence) -> Flag | None:
    """The same arm twice gives a ratio whose interval over all prompts does not contain 1.

    By its nature one interval in twenty does that on a perfect instrument. It is serious only
    where the whole interval is so far off that a verdict would follow from it.
    """
    off = [
        each
        for each in _controls(evidence, "baseline-again")
        if not each[1].low <= 1 <= each[1].high
    ]
    if not off:
        return None
    arm, interval = max(off, key=lambda each: abs(math.log(each[1].low * each[1].high)))
    return Flag(
        name="control-excludes-one",
        severity="caution" if judge(interval) == "no-clear-difference" else "serious",
        message=(
            "The same arm measured against itself gives "
            f"{interval.low:.3f} to {interval.high:.3f}, which does not contain 1."
        ),
        remedy="Do not trust differences of this size; measure more blocks.",
        arm=arm,
    )


def loop_overhead(evidence: Evidence) -> Flag | None:
    """The speculative loop costs more than 3 % although it drafts nothing."""
    slow = [each for each in _controls(evidence, "empty-draft") if each[1].high < 1 - OVERHEAD]
    if not slow:
        return None
    arm, interval = min(slow, key=lambda each: each[1].high)
    loss = 1 - math.sqrt(interval.low * interval.high)
    return Flag(
        name="loop-overhead",
        severity="caution",
        message=f"The speculative loop alone costs {say.percent(loss)} of the speed.",
        remedy="Part of every loss here is the engine's loop and not the draft.",
        arm=arm,
    )


def processor_time_disagrees(evidence: Evidence) -> Flag | None:
    """On a CPU backend, processor time and wall time give different speedups."""
    if evidence.submission.engine.backend != "cpu":
        return None
    factors: dict[str, float] = {}
    for arm in evidence.submission.arms:
        own = [pairs for pairs in evidence.pairs if pairs.arm.id == arm.id]
        apart = [gap for pairs in own if (gap := _clock_gap(pairs)) is not None]
        if apart and len(apart) == len(own) and abs(math.expm1(fmean(apart))) > CLOCKS_APART:
            factors[arm.id] = math.exp(fmean(apart))
    if not factors:
        return None
    listed = [f"{factor:.2f} times as large for {arm}" for arm, factor in factors.items()]
    return Flag(
        name="processor-time-disagrees",
        severity="caution",
        message=f"By processor time the speedup is {say.listed(listed)}.",
        remedy="Something competed for the processor; repeat on a quieter machine.",
        arm=only(factors),
    )


def _controls(evidence: Evidence, kind: str) -> Iterator[tuple[str, Interval]]:
    """Control arms of a kind with the interval of their ratio over all prompts."""
    for control in controls(evidence.submission, evidence.pairs):
        if control.kind == kind and control.interval is not None:
            yield control.arm, control.interval


def _clock_gap(pairs: PromptPairs) -> float | None:
    """Log of the speedup by processor time over the one by wall time, both within blocks."""
    both = zip(_cpu_ms(pairs.baseline_trials), _cpu_ms(pairs.trials), strict=True)
    ratios = [math.log(base / own) for base, own in both if base and own]
    return median(ratios) - pairs.log_ratio if len(ratios) == len(pairs.trials) else None


def _cpu_ms(trials: tuple[Trial, ...]) -> list[float | None]:
    return [cpu_ms_per_token(trial) for trial in trials]
