"""Flags about impossible speeds, and about values that cannot be checked."""

from statistics import median

from estimates.decomposition import can_draft
from estimates.flags.observation import FlagEvidence, Observation, bounds, only
from estimates.gpu_names import is_placeholder
from estimates.roofline import MIB, bandwidth_gb_per_s, bytes_per_token, floor, unknown_to
from estimates.trial_times import rounds
from estimates.used_gpus import used_cards
from schemas.method import Method, limit
from schemas.submission import Trial

BELOW = bounds("below-bandwidth")
_ON_CARDS = ("cuda", "vulkan", "metal", "rocm", "sycl")


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
    slack = bounds("above-roofline")["slack"]
    fast = {arm: ms for arm, ms in steps.items() if ms * slack < least.step_ms}
    if not fast:
        return None
    return Observation(
        fastest_ms=min(fast.values()),
        arms=list(fast),
        memory=least.memory,
        least_ms=least.step_ms,
        arm=only(fast),
    )


def below_bandwidth(evidence: FlagEvidence) -> Observation | None:
    """Plain decoding reads the weights so slowly that they cannot be in the card's memory.

    Mixture-of-experts models are exempt, because their experts may be in main memory. So are models
    that do not fit on the card or were kept off it.
    """
    submission, used = evidence.submission, bytes_per_token(evidence.submission.target)
    cards = submission.machine.gpus
    speeds = [bandwidth_gb_per_s(card.name) for card in cards]
    plain = {arm.id: arm.placement for arm in submission.arms if arm.role == "baseline"}
    times = [ms for each in evidence.repeats if each.arm in plain for ms in each.ms_per_token]
    left_off = any(each and each.target_gpu_layers_requested != -1 for each in plain.values())
    room = sum(card.vram_mib or 0 for card in cards) * MIB
    is_whole = used is not None and used == submission.target.file_bytes and used < room
    if not (is_whole and times and all(speeds) and submission.engine.backend in _ON_CARDS):
        return None
    most = min(each for each in speeds if each)
    gb_per_s = (used or 0) / median(times) / 1e6
    if left_off or gb_per_s >= BELOW["share"] * most or median(times) < BELOW["least_ms"]:
        return None
    return Observation(gb_per_s=gb_per_s, card=cards[0].name, most=most)


def _fewest_rounds(trial: Trial, method: Method) -> float | None:
    """A trial's counted rounds; without counts, the fewest that the method's depth allows."""
    counted, tokens, depth = rounds(trial), trial.output_tokens, limit(method)
    if counted or tokens is None:
        return counted
    most = 0 if not can_draft(method) else depth
    return None if most is None else (tokens - 1) / (most + 1)


def device_unidentified(evidence: FlagEvidence) -> Observation | None:
    """The engine ran on cards with placeholder names."""
    submission = evidence.submission
    if submission.engine.backend in ("cpu", "npu"):
        return None
    cards = used_cards(submission.machine, submission.engine, submission.arms)
    names = dict.fromkeys(card.name for card in cards if is_placeholder(card.name))
    return Observation(names=[*names]) if names else None


def speed_unchecked(evidence: FlagEvidence) -> Observation | None:
    """No step can be checked against the memory's bandwidth, because the file lacks a value."""
    submission = evidence.submission
    lacking = list(unknown_to(submission))
    finished = any(trial.outcome == "ok" for trial in submission.trials)
    if finished and not any(len(group.ms_per_token) for group in evidence.repeats):
        lacking.append("the times of the trials")
    return Observation(lacking=lacking) if lacking else None
