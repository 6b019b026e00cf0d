"""Flags: what a reader should know before trusting a figure. One function per flag.

A flag never rejects and never deletes. Nobody reads a long list, so a cause that hits several
arms or prompts is one flag, and what merely follows from another flag is not repeated. To add
one: write the function, give it a line here, and add to the tests one input that raises it and one
that does not.
"""

from collections.abc import Callable, Iterable

from estimates.flags import (
    baseline,
    completeness,
    costs,
    figures,
    limits,
    machine,
    outputs,
    spread,
    texts,
    trend,
)
from estimates.flags.evidence import Evidence
from estimates.model import Flag, Severity

Check = Callable[[Evidence], Flag | None]

_ORDER: tuple[Severity, ...] = ("serious", "caution", "note")

FLAGS: dict[str, Check] = {
    "failed-arm": completeness.failed_arm,
    "failed-trials": completeness.failed_trials,
    "missing-prompts": completeness.missing_prompts,
    "unpaired-trials": completeness.unpaired_trials,
    "interrupted": completeness.interrupted,
    "budget-spent": completeness.budget_spent,
    "resumed": completeness.resumed,
    "quick": completeness.quick,
    "single-block": completeness.single_block,
    "not-interleaved": completeness.not_interleaved,
    "order-not-planned": completeness.order_not_planned,
    "plan-changed": completeness.plan_changed,
    "never-drafted": outputs.never_drafted,
    "counters-disagree": figures.counters_disagree,
    "acceptance-not-as-set": figures.acceptance_not_as_set,
    "diverged": outputs.diverged,
    "baseline-not-reproducible": outputs.baseline_not_reproducible,
    "crowd-outputs-vary": outputs.crowd_outputs_vary,
    "teacher-forced": outputs.teacher_forced,
    "block-spread": spread.block_spread,
    "block-outlier": spread.block_outlier,
    "zero-spread": spread.zero_spread,
    "repeated-block": spread.repeated_block,
    "uneven-baseline": baseline.uneven_baseline,
    "clocks-disagree": spread.clocks_disagree,
    "stalls": trend.stalls,
    "drift": trend.drift,
    "first-block": trend.first_block,
    "cold-start": trend.cold_start,
    "control-excludes-one": costs.control_excludes_one,
    "loop-overhead": costs.loop_overhead,
    "processor-time-disagrees": costs.processor_time_disagrees,
    "round-cost-spread": costs.round_cost_spread,
    "probe-disagrees": costs.probe_disagrees,
    "prediction-missed": costs.prediction_missed,
    "above-roofline": limits.above_roofline,
    "above-bound": limits.above_bound,
    "above-power-limit": limits.above_power_limit,
    "above-memory": limits.above_memory,
    "rounded-times": figures.rounded_times,
    "uneven-digits": figures.uneven_digits,
    "unknown-suite": figures.unknown_suite,
    "private-data": texts.private_data,
    "confusable-letters": texts.confusable_letters,
    "stolen-time": machine.stolen_time,
    "busy-machine": machine.busy_machine,
    "load-appeared": machine.load_appeared,
    "on-battery": machine.on_battery,
    "clock-drop": machine.clock_drop,
    "gpu-throttled": machine.gpu_throttled,
    "gpu-hot": machine.gpu_hot,
    "power-limited": machine.power_limited,
}


def raised(evidence: Evidence) -> tuple[Flag, ...]:
    """The flags of a submission, the most serious first, then in the order of the list above."""
    return in_order(flag for check in FLAGS.values() if (flag := check(evidence)) is not None)


def in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The most serious first, else as they come."""
    return tuple(sorted(flags, key=lambda flag: _ORDER.index(flag.severity)))
