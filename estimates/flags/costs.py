"""Flags about round costs that disagree with each other or with the probes."""

import math
from collections.abc import Iterator, Mapping
from statistics import fmean, median
from typing import TypeAlias

from estimates.decomposition import step_ms
from estimates.flags.baseline import uneven_groups
from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, only, steady_length
from estimates.flags.spread import steady_groups
from estimates.intervals import deviation
from estimates.pairing import PromptPairs
from estimates.trial_times import rounds
from schemas.submission import Trial

COST = bounds("round-cost-spread")
PROBE_FACTOR = bounds("probe-disagrees")["factor"]
UNEXPLAINED = bounds("prediction-missed")["unexplained"]
# An arm, its R by prompt, and the largest usual spread and distance of a prompt.
_Costs: TypeAlias = tuple[str, Mapping[str, float], float, float]


def round_cost_spread(evidence: FlagEvidence) -> Observation | None:
    """R, the cost of a round, differs between prompts although every round does the same work.

    Only prompts with steady repetitions and an undisturbed baseline count, because other flags
    cover unsteady machines.
    """
    spreads: list[tuple[float, str, str]] = []
    for arm, costs, most, most_far in (
        *_costs_of_equal_rounds(evidence),
        *_costs_of_similar_rounds(evidence),
    ):
        if len(costs) >= COST["fewest_prompts"]:
            center = median(costs.values())
            far, prompt = max((max(c / center, center / c) - 1, p) for p, c in costs.items())
            spread = deviation([*costs.values()]) / fmean(costs.values())
            if spread > most or far > most_far:
                spreads.append((spread, arm, prompt))
    if not spreads:
        return None
    spread, arm, prompt = max(spreads)
    return Observation(
        spread=spread,
        worst_arm=arm,
        worst_prompt=prompt,
        arm=only(name for _, name, _ in spreads),
        prompt=prompt,
    )


def probe_disagrees(evidence: FlagEvidence) -> Observation | None:
    """In no block does the baseline's time per token match the probed time of one step."""
    probes = evidence.submission.probes
    single_ms = step_ms(probes.verification, 1) if probes and probes.verification else None
    factors = {
        arm.id: factor
        for arm in evidence.submission.arms
        if arm.role == "baseline" and single_ms is not None
        if (factor := _nearest_factor(evidence, arm.id, single_ms)) is not None
        if max(factor, 1 / factor) > PROBE_FACTOR
    }
    listed = [f"{factor:.2f} times in {arm}" for arm, factor in factors.items()]
    return Observation(factors=listed, arm=only(factors)) if factors else None


def prediction_missed(evidence: FlagEvidence) -> Observation | None:
    """Measured and predicted speedup differ by more than the interval explains."""
    missed = [
        each
        for each in evidence.estimates
        if each.interval is not None and abs(each.unexplained or 0.0) > UNEXPLAINED
        if (predicted := each.predicted_speedup) is not None
        if not each.interval.low <= predicted <= each.interval.high
    ]
    if not missed:
        return None
    worst = max(missed, key=lambda estimate: abs(math.log(1 + (estimate.unexplained or 0.0))))
    arms = list(dict.fromkeys(estimate.arm for estimate in missed))
    return Observation(
        arms=arms,
        scope=worst.scope,
        worst_arm=worst.arm,
        predicted=worst.predicted_speedup,
        measured=worst.speedup,
        arm=only(arms),
    )


def _nearest_factor(evidence: FlagEvidence, arm: str, single_ms: float) -> float | None:
    """The arm's time per token over the probed step time, in the block where they agree best."""
    by_block: dict[int, list[float]] = {}
    for group in evidence.repeats:
        if group.arm == arm:
            for trial, ms in zip(group.trials, group.ms_per_token, strict=True):
                by_block.setdefault(trial.block, []).append(ms / single_ms)
    factors = [median(block) for block in by_block.values()]
    return min(factors, key=lambda factor: max(factor, 1 / factor), default=None)


def _steady_costs(evidence: FlagEvidence) -> Iterator[tuple[PromptPairs, float]]:
    """The pairs with steady repetitions and an undisturbed baseline, each with its R."""
    steady = steady_groups(evidence) - uneven_groups(evidence).keys()
    for pairs in evidence.pairs:
        both = {(name or "", pairs.prompt.id) for name in (pairs.arm.id, pairs.arm.baseline)}
        if pairs.round_cost is not None and both <= steady:
            yield pairs, pairs.round_cost


def _costs_of_equal_rounds(evidence: FlagEvidence) -> Iterator[_Costs]:
    """Arms with R by prompt, grouped by the draft length of nearly all rounds."""
    groups: dict[tuple[str, int], dict[str, float]] = {}
    for pairs, cost in _steady_costs(evidence):
        length, *others = {steady_length(trial) for trial in pairs.trials}
        if length is not None and not others:
            groups.setdefault((pairs.arm.id, length), {})[pairs.prompt.id] = cost
    for (arm, _), costs in groups.items():
        yield arm, costs, COST["spread"], COST["far"]


def _costs_of_similar_rounds(evidence: FlagEvidence) -> Iterator[_Costs]:
    """Arms with R by prompt, over prompts of similar mean drafted length.

    This works for files that count drafted tokens and rounds only in total.
    """
    by_arm: dict[str, list[tuple[float, str, float]]] = {}
    for pairs, cost in _steady_costs(evidence):
        length = _mean_length(pairs.trials)
        if length is not None:
            by_arm.setdefault(pairs.arm.id, []).append((length, pairs.prompt.id, cost))
    alike = COST["similar_length"]
    for arm, found in by_arm.items():
        for length, _, _ in found:
            near = {p: cost for other, p, cost in found if abs(other - length) <= alike}
            yield arm, near, math.inf, COST["far_by_sums"]


def _mean_length(trials: tuple[Trial, ...]) -> float | None:
    """Drafted tokens per round, for trials with totals but no histogram, else `None`."""
    counts = [rounds(trial) for trial in trials]
    if any(trial.drafted_histogram is not None or not trial.drafted for trial in trials):
        return None
    known = sum(count or 0 for count in counts)
    return sum(trial.drafted or 0 for trial in trials) / known if all(counts) else None
