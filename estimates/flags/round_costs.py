"""Flags about costs of rounds that disagree, contradict the probes, or are too low to be true."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, linear_regression, median
from typing import TypeAlias

from estimates.decomposition import can_draft, step_ms
from estimates.flags.disturbed import steady_groups, uneven_groups
from estimates.flags.observation import (
    FlagEvidence,
    Observation,
    bounds,
    only,
    shared,
    steady_length,
)
from estimates.intervals import deviation, ratio_interval, t_reach
from estimates.pairing import PromptPairs
from estimates.roofline import MIB, bytes_per_token, devices, floor
from estimates.trial_times import ms_per_token, rounds
from schemas.method import limit
from schemas.submission import Arm, Trial
from schemas.vocabulary import METHODS, RUNNERS

COST, CHEAP = bounds("round-cost-spread"), bounds("cheap-rounds")
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
        if max(factor, 1 / factor) > bounds("probe-disagrees")["factor"]
    }
    listed = [f"{factor:.2f} times in {arm}" for arm, factor in factors.items()]
    return Observation(factors=listed, arm=only(factors)) if factors else None


def prediction_missed(evidence: FlagEvidence) -> Observation | None:
    """Measured and predicted speedup differ by more than the interval explains."""
    most = bounds("prediction-missed")["unexplained"]
    missed = [
        each
        for each in evidence.estimates
        if each.interval is not None and abs(each.unexplained or 0.0) > most
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


def cheap_rounds(evidence: FlagEvidence) -> Observation | None:
    """An arm's rounds clearly cost less than a plain token plus reading the draft model.

    A round of any width reads the target's weights once, as a plain token does. It reads the draft
    model's weights once for each drafted token.
    """
    floors = {
        arm.id: beyond
        for arm in evidence.submission.arms
        if arm.role == "speculation" and can_draft(arm.method) and (arm.concurrency or 1) == 1
        if (beyond := _beyond(evidence, arm)) is not None
    }
    if not floors:
        return None
    worst = min(floors, key=lambda arm: floors[arm][0] / floors[arm][1])
    return Observation(
        worst_arm=worst, cost=floors[worst][0], least=floors[worst][1], arm=only(floors)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _RoundFloor:
    """An arm's mean round on one prompt: drafted tokens, cost and least cost, in plain tokens."""

    drafted: float
    cost: float
    least: float


def _beyond(evidence: FlagEvidence, arm: Arm) -> tuple[float, float] | None:
    """The mean and lowest possible cost of an arm's rounds; `None` if they are not too cheap."""
    interleaved = evidence.submission.design.order not in ("sequential", "unknown")
    slack = CHEAP["slack"] if interleaved else CHEAP["slack_in_turn"]
    uneven = uneven_groups(evidence)
    floors = [
        known
        for pairs in evidence.pairs
        if pairs.arm.id == arm.id and (arm.baseline or "", pairs.prompt.id) not in uneven
        if (known := _round(evidence, pairs)) is not None
    ]
    if len(floors) < CHEAP["fewest_prompts"]:
        return None
    interval = ratio_interval([[(floor.least, floor.cost) for floor in floors]])
    if interval is not None and interval.low > slack:
        return fmean(floor.cost for floor in floors), fmean(floor.least for floor in floors)
    far = [floor.cost for floor in floors if floor.cost * CHEAP["far"] < floor.least]
    if len(far) > CHEAP["share"] * len(floors):
        return median(far), 1.0
    silent = _most_at_nothing(floors) if METHODS[arm.method.type].free else None
    return (silent, 1.0) if silent is not None and silent * slack < 1 else None


def _round(evidence: FlagEvidence, pairs: PromptPairs) -> _RoundFloor | None:
    """A prompt's mean round; without counts, each round is taken to yield depth + 1 tokens."""
    # The wall clock includes stalls, and the other clock may be coarse.
    clocks = [times for times in (pairs.wall_ms, pairs.times(ms_per_token)) if times]
    tokens, depth = pairs.tokens_per_round, limit(pairs.arm.method)
    if not clocks or (tokens is None and depth is None):
        return None
    cost = max(arm_ms / plain for plain, arm_ms in clocks)
    if tokens is None:
        return _RoundFloor(drafted=0, cost=cost * (1 + (depth or 0)), least=1)
    count, drafted = (
        sum(count or 0 for count in count) / len(pairs.trials)
        for count in (map(rounds, pairs.trials), [trial.drafted for trial in pairs.trials])
    )
    # A client that measures from the first piece of an answer may miss the first round.
    runner = RUNNERS.get(evidence.submission.engine.runner)
    timed = count - (1 if runner is None or runner.behind_servers else 0)
    if timed <= 0:
        return None
    least = 1 + drafted / count * _least_draft(evidence, pairs)
    return _RoundFloor(drafted=drafted / count, cost=cost * tokens * count / timed, least=least)


@shared
def _draft_steps_ms(evidence: FlagEvidence) -> Mapping[str, float]:
    """The shortest time of a draft model's step by the memory's bandwidth; 0 if unknown."""
    found = {
        draft.id: floor(replace(evidence.submission, target=draft))
        for draft in evidence.submission.drafts
    }
    return {name: by_memory.step_ms if by_memory else 0.0 for name, by_memory in found.items()}


def _least_draft(evidence: FlagEvidence, pairs: PromptPairs) -> float:
    """The shortest time to read a draft model once, in plain tokens; 0 for heads.

    Heads count as 0, because a head may draft several tokens in one pass. The time follows from the
    memory's bandwidth and, if the target is entirely on a card, from the target's time per plain
    token.
    """
    submission, method, placement = evidence.submission, pairs.arm.method, pairs.arm.placement
    draft = next((model for model in submission.drafts if model.id == method.draft), None)
    if draft is None or METHODS[method.type].architectures:
        return 0.0
    least = _draft_steps_ms(evidence)[draft.id] / pairs.baseline_ms
    asked = placement.target_gpu_layers_requested if placement else None
    draft_bytes, targets = bytes_per_token(draft), bytes_per_token(submission.target)
    on_card = asked == -1 and submission.engine.backend not in ("cpu", "other")
    # The experts of a mixture may be in main memory.
    if not on_card or not draft_bytes or not targets or targets != submission.target.file_bytes:
        return least
    return max(least, CHEAP["rate"] * (draft_bytes - devices().cache_mib * MIB) / targets)


def _most_at_nothing(floors: Sequence[_RoundFloor]) -> float | None:
    """The upper end of the interval for the cost of a round that drafts nothing.

    The cost is the intercept of a least-squares line through the half of the prompts that drafted
    least. The mean round would hide a cost that is too low, because on many machines wide steps are
    expensive.
    """
    fewest = sorted(floors, key=lambda floor: floor.drafted)[: (len(floors) + 1) // 2]
    drafted, costs = [floor.drafted for floor in fewest], [floor.cost for floor in fewest]
    center, freedom = fmean(drafted), len(fewest) - 2
    spread = sum((drafts - center) ** 2 for drafts in drafted)
    if spread == 0 or len(fewest) < CHEAP["fewest_on_line"]:
        return None
    slope, intercept = linear_regression(drafted, costs)
    rest = sum((y - intercept - slope * x) ** 2 for x, y in zip(drafted, costs, strict=True))
    error = math.sqrt(rest / freedom * (1 / len(fewest) + center**2 / spread))
    return intercept + t_reach(freedom) * error
