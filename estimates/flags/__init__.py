"""Flags: what a reader should know before trusting a figure. One check per flag.

A flag never rejects and never deletes. Nobody reads a long list, so a cause that affects several
arms or prompts is one flag, and what merely follows from another flag is not repeated.
"""

from collections.abc import Callable, Iterable

from estimates.flags import (
    arguments,
    baseline,
    clocks,
    completeness,
    controls,
    copies,
    costs,
    counters,
    digits,
    limits,
    machine,
    order,
    outputs,
    rounds,
    spread,
    suite,
    texts,
    trend,
)
from estimates.flags.catalogue import Seen, flag
from estimates.flags.evidence import FlagEvidence
from estimates.model import Flag
from schemas.vocabulary.flags import Severity

Check = Callable[[FlagEvidence], Seen | None]

_ORDER: tuple[Severity, ...] = ("serious", "caution", "note")

FLAGS: dict[str, Check] = {
    "failed-arm": completeness.failed_arm,
    "failed-trials": completeness.failed_trials,
    "one-sided-failures": completeness.one_sided_failures,
    "missing-prompts": completeness.missing_prompts,
    "unpaired-trials": completeness.unpaired_trials,
    "interrupted": completeness.interrupted,
    "budget-spent": completeness.budget_spent,
    "resumed": completeness.resumed,
    "quick": completeness.quick,
    "short-answers": completeness.short_answers,
    "single-block": completeness.single_block,
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
    "cheap-rounds": rounds.cheap_rounds,
    "above-memory": limits.above_memory,
    "rounded-times": digits.rounded_times,
    "unknown-suite": suite.unknown_suite,
    "private-data": texts.private_data,
    "confusable-letters": texts.confusable_letters,
    "stolen-time": machine.stolen_time,
    "busy-machine": machine.busy_machine,
    "load-appeared": machine.load_appeared,
    "on-battery": machine.on_battery,
    "clock-drop": machine.clock_drop,
    "gpu-throttled": machine.gpu_throttled,
    "gpu-not-used": machine.gpu_not_used,
    "power-limited": machine.power_limited,
}


def raised(evidence: FlagEvidence) -> tuple[Flag, ...]:
    """The flags of a submission, the most serious first, then in the order of the list above."""
    found = ((name, check(evidence)) for name, check in FLAGS.items())
    return in_order(flag(name, what) for name, what in found if what is not None)


def in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The most serious first, otherwise in the order given."""
    return tuple(sorted(flags, key=lambda each: _ORDER.index(each.severity)))
