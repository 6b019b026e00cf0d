"""Do the costs of rounds agree with one another, with the probes and with the hardware?"""

from __future__ import annotations

from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from estimates.decomposition import round_cost
from estimates.flags.evidence import percent, repeats, steady_length
from estimates.model import Flag
from estimates.prediction import step_ms
from estimates.trials import rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from estimates.flags.evidence import Evidence, Repeats
    from estimates.model import Estimate
    from schemas.submission import Submission

ROUND_COST_CV = 0.10
ROUND_COST_FAR = 0.25
PROBE_FACTOR = 1.3
UNEXPLAINED = 0.25
# Parts of the file (an embedding table, say) are not read for every token.
ROOFLINE_SLACK = 1.25
_FEWEST_PROMPTS = 3
_BYTES_PER_TRANSFER = 8


def round_cost_spread(evidence: Evidence) -> Iterator[Flag]:
    """R differs over prompts although every round does the same work."""
    for arm, costs in _costs_of_equal_rounds(evidence):
        center = median(costs.values())
        far, prompt = max((max(c / center, center / c) - 1, key) for key, c in costs.items())
        spread = stdev(costs.values()) / fmean(costs.values())
        if spread > ROUND_COST_CV or far > ROUND_COST_FAR:
            yield Flag(
                name="round-cost-spread",
                message=(
                    f"The cost of a round varies by {percent(spread)} over prompts, "
                    f"most on {prompt}, where clean runs vary by 1 to 2 %."
                ),
                remedy="A trial of it or of its baseline was disturbed; measure again.",
                arm=arm,
                prompt=prompt,
            )


def probe_disagrees(evidence: Evidence) -> Iterator[Flag]:
    """The baseline's time per token is not the probed time of a single step."""
    probes = evidence.submission.probes
    single_ms = step_ms(probes.verification, 1) if probes and probes.verification else None
    groups = repeats(evidence.submission)
    for arm in evidence.submission.arms:
        times = [median(group.ms_per_token) for group in groups if group.arm == arm.id]
        if arm.role != "baseline" or single_ms is None or not times:
            continue
        factor = median(times) / single_ms
        if max(factor, 1 / factor) > PROBE_FACTOR:
            yield Flag(
                name="probe-disagrees",
                message=f"A token of the baseline takes {factor:.2f} times a probed single step.",
                remedy="The machine changed between probes and trials, or arms are mixed up.",
                arm=arm.id,
            )


def prediction_missed(evidence: Evidence) -> Iterator[Flag]:
    """Measured and predicted speedup are far apart, and the interval does not explain it."""
    for arm in evidence.submission.arms:
        missed = [e for e in evidence.estimates if e.arm == arm.id and _is_missed(e)]
        if missed:
            worst = max(missed, key=lambda estimate: abs(estimate.unexplained or 0.0))
            yield Flag(
                name="prediction-missed",
                message=(
                    f"On {worst.task or 'all tasks'} the probes predict "
                    f"{worst.predicted_speedup:.2f}x, the trials show {worst.speedup:.2f}x."
                ),
                remedy="Check overheads outside the model, and that arms are not mixed up.",
                arm=arm.id,
            )


def above_roofline(evidence: Evidence) -> Iterator[Flag]:
    """A step reads the weights faster than the main memory can deliver them."""
    floor_ms = _fastest_step_ms(evidence.submission)
    if floor_ms is None:
        return
    by_arm: dict[str, list[float]] = {}
    for group in repeats(evidence.submission):
        by_arm.setdefault(group.arm, []).extend(_round_times(group))
    for arm, times in by_arm.items():
        if times and median(times) * ROOFLINE_SLACK < floor_ms:
            yield Flag(
                name="above-roofline",
                message=(
                    f"A step takes {median(times):.2f} ms, but reading the weights from memory "
                    f"takes at least {floor_ms:.2f} ms."
                ),
                remedy="Check memory speed and channels; weights may also fit into the cache.",
                arm=arm,
            )


def _costs_of_equal_rounds(evidence: Evidence) -> Iterator[tuple[str, dict[str, float]]]:
    """Arm and R by prompt, apart for each drafted length that nearly all rounds had."""
    groups: dict[tuple[str, int], dict[str, float]] = {}
    for pairs in evidence.pairs:
        lengths = {steady_length(trial) for trial in pairs.trials}
        length = lengths.pop()
        cost = round_cost(pairs)
        if length is not None and not lengths and cost is not None:
            groups.setdefault((pairs.arm.id, length), {})[pairs.prompt.id] = cost
    for (arm, _), costs in groups.items():
        if len(costs) >= _FEWEST_PROMPTS:
            yield arm, costs


def _is_missed(estimate: Estimate) -> bool:
    predicted, interval = estimate.predicted_speedup, estimate.interval
    if predicted is None or interval is None or abs(estimate.unexplained or 0.0) <= UNEXPLAINED:
        return False
    return not interval.low <= predicted <= interval.high


def _fastest_step_ms(submission: Submission) -> float | None:
    """Bytes of the weights used per token over the memory bandwidth; CPU backend only."""
    machine, target = submission.machine, submission.target
    if submission.engine.backend != "cpu" or target.file_bytes is None:
        return None
    if machine.ram_mts is None or machine.ram_channels is None:
        return None
    share = (target.active_parameters or 1) / (target.parameters or 1)
    used_bytes = target.file_bytes * (share if target.active_parameters else 1)
    bytes_per_ms = machine.ram_mts * 1000 * machine.ram_channels * _BYTES_PER_TRANSFER
    return used_bytes / bytes_per_ms


def _round_times(group: Repeats) -> Iterator[float]:
    """Milliseconds per round of each trial."""
    for trial, ms in zip(group.trials, group.ms_per_token, strict=True):
        count = rounds(trial)
        if count and trial.output_tokens:
            yield ms * (trial.output_tokens - 1) / count
