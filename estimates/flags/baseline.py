"""A flag about prompts on which the baseline was disturbed; round counts are not needed."""

import math
from collections.abc import Mapping
from statistics import fmean, median

from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, shared
from estimates.flags.trend import without_drift
from estimates.intervals import deviation
from schemas.vocabulary import say

BOUNDS = bounds("uneven-baseline")
_MOST_NAMED = 4


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
        if group.arm == arm and lengths.get(group.prompt, 0) <= BOUNDS["long_prompt"]
        if min(trial.output_tokens or 0 for trial in group.trials) >= BOUNDS["fewest_tokens"]
    ]
    if len(groups) < BOUNDS["fewest_prompts"]:
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
        by_noise = max(BOUNDS["factor"], math.exp(BOUNDS["deviations"] * error))
        repeated = len(group.trials) > 1
        limits[group.prompt] = by_noise if repeated else BOUNDS["factor_without_repeats"]
    return {
        prompt: (ms, usual_ms)
        for prompt, ms in times.items()
        if max(ms / usual_ms, usual_ms / ms) > limits[prompt]
    }
