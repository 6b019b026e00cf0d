"""Flags about speed, power or memory beyond what is possible."""

from collections.abc import Iterator
from statistics import median

from estimates.decomposition import can_draft
from estimates.flags.evidence import Evidence, Repeats, only
from estimates.model import Estimate, Flag
from estimates.pairing import rounds
from estimates.roofline import floor
from schemas.method import limit
from schemas.submission import Arm, Trial
from schemas.vocabulary import say

# Parts of the file (an embedding table, say) are not read for every token.
ROOFLINE_SLACK = 1.25
# A round reads the weights once, as a plain token does; noise is in the interval, or in this much.
BOUND_SLACK, BOUND_SLACK_WITHOUT_INTERVAL = 1.05, 1.25
# A limit is an average over some milliseconds; the rest of the machine is not under it.
POWER_SLACK = 1.5
MEMORY_SLACK = 1.02


def above_roofline(evidence: Evidence) -> Flag | None:
    """A step reads the weights faster than the memory they lie in can deliver them."""
    least = floor(evidence.submission)
    if least is None:
        return None
    by_arm: dict[str, list[float]] = {}
    for group in evidence.repeats:
        by_arm.setdefault(group.arm, []).extend(_round_times(group))
    steps = {arm: median(times) for arm, times in by_arm.items() if times}
    fast = {arm: ms for arm, ms in steps.items() if ms * ROOFLINE_SLACK < least.step_ms}
    if not fast:
        return None
    return Flag(
        name="above-roofline",
        severity="serious",
        message=(
            f"A step takes {min(fast.values()):.2f} ms with {say.listed(list(fast))}, but reading "
            f"the weights from {least.memory} takes at least {least.step_ms:.2f} ms."
        ),
        remedy="Check device, memory channels, file size and active parameters of the target.",
        arm=only(fast),
    )


def above_bound(evidence: Evidence) -> Flag | None:
    """An arm gains more than its rounds yield, as if a round cost less than a plain token.

    The bound is tokens per round; without counted rounds it is 1 + acceptance x depth, and without
    acceptance depth + 1 (Leviathan, Kalman and Matias 2023, Fast inference from transformers).
    """
    arms = {arm.id: arm for arm in evidence.submission.arms}
    beyond = [
        (estimate, bound)
        for estimate in evidence.estimates
        if (bound := _bound(arms[estimate.arm], estimate)) is not None
        if _surely(estimate) > bound
    ]
    if not beyond:
        return None
    worst, bound = max(beyond, key=lambda pair: (pair[0].speedup or 0.0) / pair[1])
    return Flag(
        name="above-bound",
        severity="serious",
        message=(
            f"{worst.arm} is {worst.speedup:.2f} times as fast on {worst.scope}, but "
            f"its rounds yield {bound:.2f} tokens, and none is cheaper than a plain token."
        ),
        remedy="Check that baseline and arm ran with the same settings, placement and load.",
        arm=only(estimate.arm for estimate, _ in beyond),
    )


def above_power_limit(evidence: Evidence) -> Flag | None:
    """The energy of a trial over its time is more than all cards may draw."""
    limits = [
        gpu.power_limit_w or gpu.default_power_limit_w for gpu in evidence.submission.machine.gpus
    ]
    method = evidence.submission.settings.energy_method
    if method != "nvml" or not limits or None in limits:
        return None
    limit_w = sum(limit for limit in limits if limit is not None)
    drawn = [watts for each in evidence.submission.trials if (watts := _watts(each)) is not None]
    if not drawn or median(drawn) <= POWER_SLACK * limit_w:
        return None
    return Flag(
        name="above-power-limit",
        severity="caution",
        message=f"Trials draw {median(drawn):.0f} W, the cards may draw {limit_w:.0f} W.",
        remedy="Check the unit of the energy counter (energy_j is joules) and the power limit.",
    )


def above_memory(evidence: Evidence) -> Flag | None:
    """An arm's peak memory is more than its device has."""
    sizes = {
        device.name: device.memory_total_mib
        for device in evidence.submission.engine.devices or ()
        if device.memory_total_mib is not None
    }
    beyond = [
        (arm.id, used.device, used.peak_mib)
        for arm in evidence.submission.arms
        for used in arm.peak_memory or ()
        if used.peak_mib > sizes.get(used.device, used.peak_mib) * MEMORY_SLACK
    ]
    if not beyond:
        return None
    arm, device, peak_mib = max(beyond, key=lambda each: each[2])
    return Flag(
        name="above-memory",
        severity="caution",
        message=f"{arm} used {peak_mib} MiB of {device}, which has {sizes[device]} MiB.",
        remedy="It spilled into slower memory, or the memory of the device is given wrong.",
        arm=only(each for each, _, _ in beyond),
    )


def _bound(arm: Arm, estimate: Estimate) -> float | None:
    if arm.role != "speculation" or not can_draft(arm.method):
        return None
    if estimate.tokens_per_round is not None:
        return estimate.tokens_per_round
    depth = limit(arm.method)
    if depth is None:
        return None
    accepted = 1.0 if estimate.acceptance_rate is None else min(1.0, estimate.acceptance_rate)
    return 1 + accepted * depth


def _surely(estimate: Estimate) -> float:
    """The speedup without what noise may have added; 0 where there is none."""
    if estimate.speedup is None:
        return 0.0
    if estimate.interval is None:
        return estimate.speedup / BOUND_SLACK_WITHOUT_INTERVAL
    return estimate.interval.low / BOUND_SLACK


def _watts(trial: Trial) -> float | None:
    ms = trial.wall_ms or trial.decode_ms
    return trial.energy_j * 1000 / ms if trial.energy_j is not None and ms else None


def _round_times(group: Repeats) -> Iterator[float]:
    """Milliseconds per round of each trial."""
    for trial, ms in zip(group.trials, group.ms_per_token, strict=True):
        count = rounds(trial)
        if count and trial.output_tokens:
            yield ms * (trial.output_tokens - 1) / count
