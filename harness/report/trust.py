"""Format the evidence for the figures of a summary: precision, controls, costs."""

from collections.abc import Iterator, Sequence

from estimates.model import Control, Estimate, Repeatability, Summary
from estimates.repeatability import LEAST_BLOCKS, blocks_run, deciding
from harness.report import words
from schemas.submission import Probes, Submission
from schemas.vocabulary import say

# A busy thread adds 1 to the load.
_RESTED = 1.0
_POWER = {True: "on battery", False: "on mains power", None: None}
_STEADY = {
    True: "steady when the trials began",
    False: "not steady after a minute of warm-up",
    None: "may not have settled",
}


def began(submission: Submission) -> str:
    """Return the machine's state before the run, such as `rested (load 0.2 in 15 minutes), …`."""
    shots = {shot.moment: shot for shot in submission.environment or ()}
    before, warm = shots.get("before"), shots.get("warm")
    if before is None or before.load_15min is None:
        return ""
    load = before.load_15min
    parts = [
        f"{'rested' if load < _RESTED else 'busy before the run'} (load {load:.1f} in 15 minutes)",
        _POWER[before.on_battery],
        _STEADY[warm.steady if warm else None],
    ]
    if before.cpu_speed_limit is not None and before.cpu_speed_limit < 1:
        parts.append(f"CPU limited to {say.percent(before.cpu_speed_limit)} by heat")
    return ", ".join(part for part in parts if part)


def ended(submission: Submission) -> str:
    """Return why the run ended: `after 4 of at most 6 blocks, within ±2.1 % (target ±3.0 %)`."""
    design, done = submission.design, blocks_run(submission)
    half_width = deciding(submission)
    found = "unknown precision" if half_width is None else _within(half_width)
    target = "" if design.precision is None else f" (target {_within(design.precision)})"
    match design.ended:
        case "precise-enough":
            return (
                f"after {done} of at most {design.blocks} blocks: precise enough, {found}{target}"
            )
        case "budget-spent":
            budget = "" if design.budget_s is None else f" of {words.seconds(design.budget_s)}"
            left = f"after {done} of {say.count(design.blocks, 'block')}"
            return f"{left}: the time limit{budget} was reached, {found}{target}"
        case "interrupted":
            return f"interrupted in block {done} of {design.blocks}; --resume continues"
        case "completed":
            if design.precision is None:
                passes = "the only block" if done == 1 else f"all {say.count(done, 'block')}"
                again = {each.prompt for each in submission.trials if each.block >= design.blocks}
                more = f"; {say.count(len(again), 'prompt')} measured again" if again else ""
                return f"after {passes}, as planned{more}"
            return f"after all {design.blocks} blocks: not precise enough, {found}{target}"


def _within(half_width: float) -> str:
    return f"\N{PLUS-MINUS SIGN}{say.percent(half_width, 1)}"


def repeatability(found: Repeatability | None) -> str:
    """Describe the range of the speedup if the prompts are rerun, and how long halving it takes."""
    if found is None or found.half_width is None:
        return ""
    text = (
        "If these prompts are measured again, the speedup is expected to be within "
        f"{_within(found.half_width)} of this one ({say.count(found.blocks, 'block')})."
    )
    if found.minutes_to_halve is None:
        return text
    return (
        f"{text} Halving this range takes about {words.seconds(60 * found.minutes_to_halve)} more."
    )


def starts(found: Repeatability | None) -> str:
    """Describe the speedup's spread between engine starts, or say that there was only one start."""
    if found is None:
        return ""
    each = found.starts
    return say.start_spread(each.starts, each.spread, each.low, each.high)


def unknown_repeatability(summary: Summary) -> str:
    """Return why no arm's repeatability is known; empty if that of any arm is known."""
    if any(each.half_width is not None for each in summary.repeatability):
        return ""
    return f"Repeatability needs at least {LEAST_BLOCKS} full blocks."


def predicted(estimates: Sequence[Estimate]) -> str:
    """Describe each task's predicted speedup, and the measured speedup's deviation from it."""
    parts = [
        f"{each.scope} {say.times(each.predicted_speedup)} "
        f"({say.percent(each.unexplained, signed=True)})"
        for each in estimates
        if each.predicted_speedup is not None and each.unexplained is not None
    ]
    label = "Speedup predicted from costs and acceptance (and the measured deviation from this"
    return f"{label} prediction): {', '.join(parts)}." if parts else ""


def by_processor(estimate: Estimate) -> str:
    if estimate.cpu_speedup is None:
        return ""
    found = say.times(estimate.cpu_speedup)
    return f"Speedup by CPU time, which other programs hardly affect: {found}."


def controls(summary: Summary) -> Iterator[str]:
    """Yield one line per control arm: its result, and whether that is as expected."""
    for each in summary.controls:
        bounds = say.interval(each.interval.low, each.interval.high) if each.interval else ""
        yield f"{each.arm} {each.ratio:.3f} {bounds}: {_judged(each)}{_same(each, summary)}"


def _judged(control: Control) -> str:
    if control.kind == "empty-draft":
        steps = f"{1 / control.ratio:.2f} plain steps"
        return f"without drafts, a step of the loop takes as long as {steps}"
    if control.interval is None:
        return "the baseline measured again, on too few prompts for a conclusion"
    holds = control.interval.low <= 1 <= control.interval.high
    found = "contains 1, as it must" if holds else "MUST CONTAIN 1"
    return f"the baseline measured again; the range {found}"


def _same(control: Control, summary: Summary) -> str:
    counts = [
        each.exactness
        for each in summary.estimates
        if each.arm == control.arm and each.task is not None and each.exactness is not None
    ]
    compared = sum(each.identical + each.diverged_near_tie + each.diverged for each in counts)
    if not compared:
        return ""
    return f"; {sum(each.identical for each in counts)} of {compared} outputs identical"


_BAR_LENGTH = 30


def costs(probes: Probes | None) -> Iterator[str]:
    """Yield the verification curve and the drafting costs as text; nothing without probes."""
    curve = probes.verification if probes else None
    if curve is not None and curve.widths[0] == 1:
        yield ("Cost of one target step by its number of tokens (1.00 is one plain token):")
        single_ms, longest = curve.step_ms_median[0], max(curve.step_ms_median)
        for width, step_ms in zip(curve.widths, curve.step_ms_median, strict=True):
            bar = "█" * max(1, round(_BAR_LENGTH * step_ms / longest))
            yield (
                f"  {width:>4} {bar:<{_BAR_LENGTH}} {step_ms / single_ms:>5.2f}  {step_ms:.1f} ms"
            )
    for cost in (probes.drafting if probes else None) or ():
        yield f"  drafting one token with {cost.draft}: {cost.token_ms_median:.1f} ms"
