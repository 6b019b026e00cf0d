"""Raise flags: what to know before trusting a figure. Each flag has one check.

A flag never rejects or deletes anything. Nobody reads a long list, so a cause that affects several
arms or prompts raises a single flag, and its mere consequences raise none.
"""

from collections.abc import Callable, Iterable

from estimates.flags import (
    arguments,
    baseline,
    clocks,
    controls,
    copies,
    costs,
    counters,
    digits,
    limits,
    machine_state,
    missing_parts,
    order,
    outputs,
    rounds,
    spread,
    texts,
    trend,
    unknown_suite,
)
from estimates.flags.catalogue import Observation, flag
from estimates.flags.evidence import FlagEvidence
from estimates.model import Flag
from schemas.vocabulary.flags import Severity

Check = Callable[[FlagEvidence], Observation | None]

_ORDER: tuple[Severity, ...] = ("serious", "caution", "note")

FLAGS: dict[str, Check] = {
    "failed-arm": missing_parts.failed_arm,
    "failed-trials": missing_parts.failed_trials,
    "one-sided-failures": missing_parts.one_sided_failures,
    "missing-prompts": missing_parts.missing_prompts,
    "unpaired-trials": missing_parts.unpaired_trials,
    "interrupted": missing_parts.interrupted,
    "budget-spent": missing_parts.budget_spent,
    "resumed": missing_parts.resumed,
    "quick": missing_parts.quick,
    "short-answers": missing_parts.short_answers,
    "single-block": missing_parts.single_block,
    "one-start": order.one_start,
    "not-interleaved": order.not_interleaved,
    "order-not-planned": order.order_not_planned,
    "plan-changed": order.plan_changed,
    "never-drafted": outputs.never_drafted,
    "arguments-differ": arguments.arguments_differ,
    "counters-disagree": counters.counters_disagree,
    "acceptance-not-as-set": counters.acceptance_not_as_set,
    "diverged": outputs.diverged,
    "near-ties": outputs.near_ties,
    "invalid-answers": outputs.invalid_answers,
    "baseline-not-reproducible": outputs.baseline_not_reproducible,
    "concurrent-outputs-vary": outputs.concurrent_outputs_vary,
    "block-spread": spread.block_spread,
    "block-outlier": spread.block_outlier,
    "zero-spread": copies.zero_spread,
    "repeated-block": copies.repeated_block,
    "same-answers": copies.same_answers,
    "uneven-baseline": baseline.uneven_baseline,
    "clocks-disagree": spread.clocks_disagree,
    "whole-requests-only": clocks.whole_requests_only,
    "stalls": clocks.stalls,
    "drift": trend.drift,
    "first-block": trend.first_block,
    "cold-start": trend.cold_start,
    "control-excludes-one": controls.control_excludes_one,
    "loop-overhead": controls.loop_overhead,
    "processor-time-disagrees": clocks.processor_time_disagrees,
    "round-cost-spread": costs.round_cost_spread,
    "probe-disagrees": costs.probe_disagrees,
    "prediction-missed": costs.prediction_missed,
    "above-roofline": limits.above_roofline,
    "below-bandwidth": limits.below_bandwidth,
    "device-unidentified": limits.device_unidentified,
    "speed-unchecked": limits.speed_unchecked,
    "cheap-rounds": rounds.cheap_rounds,
    "above-memory": limits.above_memory,
    "rounded-times": digits.rounded_times,
    "unknown-suite": unknown_suite.unknown_suite,
    "private-data": texts.private_data,
    "confusable-letters": texts.confusable_letters,
    "stolen-time": machine_state.stolen_time,
    "busy-machine": machine_state.busy_machine,
    "load-appeared": machine_state.load_appeared,
    "on-battery": machine_state.on_battery,
    "clock-drop": machine_state.clock_drop,
    "gpu-throttled": machine_state.gpu_throttled,
    "gpu-use-not-shown": machine_state.gpu_use_not_shown,
    "power-limited": machine_state.power_limited,
}


def raised(evidence: FlagEvidence) -> tuple[Flag, ...]:
    """The flags of a submission, most serious first, then in the order of `FLAGS`."""
    found = ((name, check(evidence)) for name, check in FLAGS.items())
    return in_order(flag(name, what) for name, what in found if what is not None)


def in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Sort flags by severity, most serious first, otherwise keeping their order."""
    return tuple(sorted(flags, key=lambda each: _ORDER.index(each.severity)))
