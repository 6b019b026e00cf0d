"""Flags about speed or memory beyond what is possible."""

from statistics import median

from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, only
from estimates.roofline import floor
from estimates.trial_times import rounds

ROOFLINE_SLACK = bounds("above-roofline")["slack"]
MEMORY_SLACK = bounds("above-memory")["slack"]


def above_roofline(evidence: FlagEvidence) -> Observation | None:
    """A step reads the weights faster than their memory can deliver them."""
    least = floor(evidence.submission)
    if least is None:
        return None
    by_arm: dict[str, list[float]] = {}
    for group in evidence.repeats:
        by_arm.setdefault(group.arm, []).extend(
            ms * (trial.output_tokens - 1) / count
            for trial, ms in zip(group.trials, group.ms_per_token, strict=True)
            if (count := rounds(trial)) and trial.output_tokens
        )
    steps = {arm: median(times) for arm, times in by_arm.items() if times}
    fast = {arm: ms for arm, ms in steps.items() if ms * ROOFLINE_SLACK < least.step_ms}
    if not fast:
        return None
    return Observation(
        fastest_ms=min(fast.values()),
        arms=list(fast),
        memory=least.memory,
        least_ms=least.step_ms,
        arm=only(fast),
    )


def above_memory(evidence: FlagEvidence) -> Observation | None:
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
    arm, device, peak_mib = max(beyond, key=lambda row: row[2])
    return Observation(
        worst_arm=arm,
        peak_mib=peak_mib,
        device=device,
        size_mib=sizes[device],
        arm=only(arm for arm, _, _ in beyond),
    )
