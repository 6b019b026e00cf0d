"""Flags about speed or memory beyond what is possible."""

from statistics import median

from estimates.decomposition import can_draft
from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, only
from estimates.gpu_names import is_placeholder
from estimates.roofline import floor, unknown_to
from estimates.trial_times import rounds
from estimates.used_gpus import used_cards
from schemas.method import Method, limit
from schemas.submission import Trial

ROOFLINE_SLACK = bounds("above-roofline")["slack"]
MEMORY_SLACK = bounds("above-memory")["slack"]


def above_roofline(evidence: FlagEvidence) -> Observation | None:
    """A step reads the weights faster than their memory can deliver them."""
    least = floor(evidence.submission)
    if least is None:
        return None
    methods = {arm.id: arm.method for arm in evidence.submission.arms}
    by_arm: dict[str, list[float]] = {}
    for group in evidence.repeats:
        by_arm.setdefault(group.arm, []).extend(
            ms * ((trial.output_tokens or 1) - 1) / count
            for trial, ms in zip(group.trials, group.ms_per_token, strict=True)
            if (count := _fewest_rounds(trial, methods[group.arm]))
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


def _fewest_rounds(trial: Trial, method: Method) -> float | None:
    """Rounds as counted; where they were not, as few as the method's depth allows."""
    counted, tokens, depth = rounds(trial), trial.output_tokens, limit(method)
    if counted or tokens is None:
        return counted
    most = 0 if not can_draft(method) else depth
    return None if most is None else (tokens - 1) / (most + 1)


def device_unidentified(evidence: FlagEvidence) -> Observation | None:
    """The cards that were used have placeholders for names."""
    submission = evidence.submission
    if submission.engine.backend in ("cpu", "npu"):
        return None
    cards = used_cards(submission.machine, submission.engine, submission.arms)
    names = dict.fromkeys(card.name for card in cards if is_placeholder(card.name))
    return Observation(names=[*names]) if names else None


def speed_unchecked(evidence: FlagEvidence) -> Observation | None:
    """No step can be compared with the memory: the file does not say what that takes."""
    submission = evidence.submission
    lacking = list(unknown_to(submission))
    finished = any(trial.outcome == "ok" for trial in submission.trials)
    if finished and not any(len(group.ms_per_token) for group in evidence.repeats):
        lacking.append("the times of the trials")
    return Observation(lacking=lacking) if lacking else None


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
