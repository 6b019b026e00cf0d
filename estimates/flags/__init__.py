"""Raise flags: what to know before trusting a figure. Each flag has one check.

A flag never rejects or deletes anything. Nobody reads a long list, so a cause that affects several
arms or prompts raises a single flag, and its mere consequences raise none.
"""

from collections.abc import Callable, Iterable

from estimates.flags import (
    clocks,
    controls,
    copies,
    disturbed,
    fairness,
    generated,
    limits,
    machine_state,
    plan,
    round_costs,
    trend,
)
from estimates.flags.observation import FlagEvidence, Observation, flag
from estimates.model import Flag
from schemas.vocabulary.flags import FLAGS as ENTRIES
from schemas.vocabulary.flags import Severity

Check = Callable[[FlagEvidence], Observation | Iterable[Observation] | None]

_ORDER: tuple[Severity, ...] = ("serious", "caution", "note")

FLAGS: dict[str, Check] = {
    "missing-trials": plan.missing_trials,
    "one-sided-failures": plan.one_sided_failures,
    "stopped": plan.stopped,
    "small-campaign": plan.small_campaign,
    "one-start": fairness.one_start,
    "not-interleaved": fairness.not_interleaved,
    "plan-changed": plan.plan_changed,
    "never-drafted": generated.never_drafted,
    "arguments-differ": fairness.arguments_differ,
    "unknown-options": fairness.unknown_options,
    "counters-disagree": generated.counters_disagree,
    "acceptance-not-as-set": controls.acceptance_not_as_set,
    "diverged": generated.diverged,
    "near-ties": generated.near_ties,
    "invalid-answers": generated.invalid_answers,
    "baseline-not-reproducible": generated.baseline_not_reproducible,
    "concurrent-outputs-vary": generated.concurrent_outputs_vary,
    "block-spread": disturbed.block_spread,
    "zero-spread": copies.zero_spread,
    "repeated-block": copies.repeated_block,
    "same-answers": copies.same_answers,
    "uneven-baseline": disturbed.uneven_baseline,
    "whole-requests-only": clocks.whole_requests_only,
    "drift": trend.drift,
    "first-block": trend.first_block,
    "control-excludes-one": controls.control_excludes_one,
    "round-cost-spread": round_costs.round_cost_spread,
    "probe-disagrees": round_costs.probe_disagrees,
    "prediction-missed": round_costs.prediction_missed,
    "above-roofline": limits.above_roofline,
    "below-bandwidth": limits.below_bandwidth,
    "device-unidentified": limits.device_unidentified,
    "speed-unchecked": limits.speed_unchecked,
    "cheap-rounds": round_costs.cheap_rounds,
    "unknown-suite": plan.unknown_suite,
    "busy-machine": machine_state.busy_machine,
    "on-battery": machine_state.on_battery,
    "low-power": machine_state.low_power,
    "clock-drop": machine_state.clock_drop,
    "gpu-use-not-shown": machine_state.gpu_use_not_shown,
    "power-limited": machine_state.power_limited,
}


def raised(evidence: FlagEvidence) -> tuple[Flag, ...]:
    """The flags of a submission, most serious first, then in the order of `FLAGS`."""
    found = ((name, check(evidence)) for name, check in FLAGS.items())
    return in_order(
        flag(name, each)
        for name, what in found
        for each in ((what,) if isinstance(what, Observation) else what or ())
    )


def in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Sort flags by severity, most serious first, otherwise keeping their order.

    A serious flag whose cause may be gone in the next campaign comes after those that will return.
    """

    def place(each: Flag) -> tuple[int, bool]:
        return _ORDER.index(each.severity), each.severity == "serious" and ENTRIES[each.name].passes

    return tuple(sorted(flags, key=place))
