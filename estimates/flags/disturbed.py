"""Flags about disturbed trials: repetitions that disagree, and prompts with an odd baseline.

Each disturbance raises one flag. A drift has a separate flag.
"""

import math
from collections.abc import Mapping
from statistics import fmean, median

from estimates.flags.observation import (
    FlagEvidence,
    Observation,
    Repeats,
    bounds,
    only,
    shared,
)
from estimates.flags.trend import without_drift
from estimates.intervals import deviation
from schemas.vocabulary import say

BLOCK_CV = bounds("block-spread")["spread"]
UNEVEN = bounds("uneven-baseline")
_MOST_NAMED = 4


def block_spread(evidence: FlagEvidence) -> Observation | None:
    """The same trial takes clearly different times in different blocks."""
    groups = without_drift(evidence)
    found = {group.key: value for group in groups if (value := _cv(group)) > BLOCK_CV}
    if not found:
        return None
    arms, prompts = ({key[part] for key in found} for part in (0, 1))
    worst_arm, worst_prompt = max(found, key=found.__getitem__)
    among = {group.prompt for group in groups if group.arm in arms}
    place = f"on {len(prompts)} of {say.count(len(among), 'prompt')}"
    if len(arms) > 1:
        place += f" in {len(arms)} arms"
    return Observation(
        value=max(found.values()),
        place=place,
        worst_arm=worst_arm,
        worst_prompt=worst_prompt,
        arm=only(arms),
        prompt=worst_prompt,
    )


def uneven_baseline(evidence: FlagEvidence) -> Observation | None:
    """The baseline was much slower or faster on some prompts, far beyond the noise of repetitions.

    Every plain token reads the same weights, so such a prompt was disturbed. Every arm's speedup on
    the prompt is wrong by the same factor.
    """
    prompts = {prompt: times for (_, prompt), times in uneven_groups(evidence).items()}
    if not prompts:
        return None
    worst = max(prompts, key=lambda prompt: abs(math.log(prompts[prompt][0] / prompts[prompt][1])))
    rates = sorted(round(1000 / ms, 1) for ms, _ in prompts.values())
    more = f" and {len(prompts) - _MOST_NAMED} more" if len(prompts) > _MOST_NAMED else ""
    return Observation(
        rates=f"{rates[0]:g}" + (f" to {rates[-1]:g}" if rates[-1] > rates[0] else ""),
        prompts=say.listed(list(prompts)[:_MOST_NAMED]) + more,
        usual=1000 / prompts[worst][1],
        prompt=worst,
    )


@shared
def steady_groups(evidence: FlagEvidence) -> frozenset[tuple[str, str]]:
    """The pairs of arm and prompt whose repetitions agree."""
    return frozenset(g.key for g in without_drift(evidence) if _cv(g) <= BLOCK_CV)


def _cv(group: Repeats) -> float:
    """The standard deviation of the times over their mean; 0 for a single block."""
    times = group.ms_per_token
    return deviation(times) / fmean(times) if len(times) > 1 else 0.0


@shared
def uneven_groups(evidence: FlagEvidence) -> Mapping[tuple[str, str], tuple[float, float]]:
    """Baseline arms and prompts that `uneven_baseline` reports, with their and the usual time."""
    return {
        (arm.id, prompt): times
        for arm in evidence.submission.arms
        if arm.role == "baseline" and (arm.concurrency or 1) == 1
        for prompt, times in _uneven(evidence, arm.id).items()
    }


def _uneven(evidence: FlagEvidence, arm: str) -> Mapping[str, tuple[float, float]]:
    """Prompts whose time per token is far from usual, each with its time and the usual time."""
    lengths = {prompt.id: prompt.tokens or 0 for prompt in evidence.submission.suite.prompts}
    groups = [
        group
        for group in without_drift(evidence)
        if group.arm == arm and lengths.get(group.prompt, 0) <= UNEVEN["long_prompt"]
        if min(trial.output_tokens or 0 for trial in group.trials) >= UNEVEN["fewest_tokens"]
    ]
    if len(groups) < UNEVEN["fewest_prompts"]:
        return {}
    times = {group.prompt: median(group.ms_per_token) for group in groups}
    # Disturbances slow prompts down, so the faster half shows the usual cost of a token.
    usual_ms = median(sorted(times.values())[: (len(times) + 1) // 2])
    logs = [[math.log(ms) for ms in group.ms_per_token] for group in groups]
    spreads = [deviation(values) if len(values) > 1 else 0.0 for values in logs]
    usual = math.sqrt(fmean(spread**2 for spread in spreads))
    limits: dict[str, float] = {}
    for group, spread in zip(groups, spreads, strict=True):
        # The factor that noise may cause, from the differences between repetitions.
        error = max(spread, usual) / math.sqrt(len(group.trials))
        by_noise = max(UNEVEN["factor"], math.exp(UNEVEN["deviations"] * error))
        repeated = len(group.trials) > 1
        limits[group.prompt] = by_noise if repeated else UNEVEN["factor_without_repeats"]
    return {
        prompt: (ms, usual_ms)
        for prompt, ms in times.items()
        if max(ms / usual_ms, usual_ms / ms) > limits[prompt]
    }
