"""A flag about rounds that cost less than reading the necessary weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, linear_regression, median

from estimates.decomposition import can_draft
from estimates.flags.baseline import uneven_groups
from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, only, shared
from estimates.intervals import ratio_interval, t_reach
from estimates.pairing import PromptPairs
from estimates.roofline import MIB, bytes_per_token, devices, floor
from estimates.trial_times import ms_per_token, rounds
from schemas.method import limit
from schemas.submission import Arm
from schemas.vocabulary import METHODS, RUNNERS

BOUNDS = bounds("cheap-rounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class _RoundFloor:
    """An arm's mean round on one prompt: drafted tokens, cost and least cost, in plain tokens."""

    drafted: float
    cost: float
    least: float


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


def _beyond(evidence: FlagEvidence, arm: Arm) -> tuple[float, float] | None:
    """The mean and lowest possible cost of an arm's rounds; `None` if they are not too cheap."""
    interleaved = evidence.submission.design.order not in ("sequential", "unknown")
    slack = BOUNDS["slack"] if interleaved else BOUNDS["slack_in_turn"]
    uneven = uneven_groups(evidence)
    floors = [
        known
        for pairs in evidence.pairs
        if pairs.arm.id == arm.id and (arm.baseline or "", pairs.prompt.id) not in uneven
        if (known := _round(evidence, pairs)) is not None
    ]
    if len(floors) < BOUNDS["fewest_prompts"]:
        return None
    interval = ratio_interval([[(floor.least, floor.cost) for floor in floors]])
    if interval is not None and interval.low > slack:
        return fmean(floor.cost for floor in floors), fmean(floor.least for floor in floors)
    far = [floor.cost for floor in floors if floor.cost * BOUNDS["far"] < floor.least]
    if len(far) > BOUNDS["share"] * len(floors):
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
    return max(least, BOUNDS["rate"] * (draft_bytes - devices().cache_mib * MIB) / targets)


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
    if spread == 0 or len(fewest) < BOUNDS["fewest_on_line"]:
        return None
    slope, intercept = linear_regression(drafted, costs)
    rest = sum((y - intercept - slope * x) ** 2 for x, y in zip(drafted, costs, strict=True))
    error = math.sqrt(rest / freedom * (1 / len(fewest) + center**2 / spread))
    return intercept + t_reach(freedom) * error
