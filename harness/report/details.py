"""All figures of a result, as `--details` prints them: arms, controls, costs, doubts."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from estimates import depths
from estimates.arguments import is_lossy
from estimates.identity import identify
from estimates.model import Control, Estimate, Flag, Repeatability, Summary, Throughput
from estimates.reasons import reason, whole_request
from estimates.repeatability import LEAST_BLOCKS, blocks_run, deciding
from estimates.verdicts import LOSSY
from harness import console
from harness.report import words
from harness.report.use import INDENT, folded
from schemas.method import limit
from schemas.submission import Arm, Probes, Submission
from schemas.vocabulary import METHODS, VERDICTS, say, sentence

_LEGEND = (
    "tokens/s: the decoding rates of the baseline and of this arm; the second divided by the "
    "first is the speedup. [95%]: the range of the speedup on this machine with other prompts of "
    "the same kind. request: the speedup of whole requests, including the time to read the "
    "prompt (a draft reads it too). got/needs: tokens per round, and the break-even number of "
    "tokens (R, the cost of a round in plain tokens); the first divided by the second is the "
    "speedup. same: number of outputs identical to the baseline's (~ diverged at a near-tie, "
    "! diverged elsewhere). A figure with a less-than sign includes answers that timed out, so it "
    "is an upper bound."
)
_CONCURRENCY_LEGEND = (
    "All rates are in tokens/s. The total covers whole passes, including prompt processing; its "
    "speedup is the total divided by the baseline's total above ([95%]: interval over blocks, on "
    "this machine). A draft uses compute that the other requests could have used."
)
_COLUMNS = ("task", "verdict", "tokens/s", "speedup [95%]", "request", "got/needs", "same")
_CONCURRENCY_COLUMNS = ("at once", "arm", "one stream", "in total", "total speedup [95%]")
_BAR_LENGTH = 30
# A busy thread adds 1 to the load.
_RESTED = 1.0
_POWER = {True: "on battery", False: "on mains power", None: None}
_STEADY = {
    True: "steady when the trials began",
    False: "not steady after a minute of warm-up",
    None: "may not have settled",
}


def lines(submission: Submission, summary: Summary, width: int) -> Iterator[Text]:
    """Yield the lines for a console of `width` columns."""
    yield from _header(submission)
    for arm in submission.arms:
        if arm.role != "baseline" and arm.id not in {each.arm for each in summary.controls}:
            yield from (Text(), Text.assemble((arm.id, "bold"), f": {described(arm, submission)}"))
            yield from _arm(arm, submission, summary, width)
    if summary.throughput:
        title = "Concurrent requests: the rate of one request, and the machine's total"
        yield from (Text(), *_text(title, width, style="bold"))
        yield from words.aligned([*_concurrency(summary.throughput)], right={0, 2, 3}, width=width)
        yield from _text(_CONCURRENCY_LEGEND, width, style="dim")
    for number, line in enumerate(controls(summary)):
        if number == 0:
            yield from (Text(), Text("Controls (their results are known in advance):", "bold"))
        yield from _text(line, width, first=INDENT, rest=2 * INDENT)
    if any(estimate.speedup is not None for estimate in summary.estimates):
        yield from (Text(), *_text(_LEGEND, width, style="dim"))
    if all(each.half_width is None for each in summary.repeatability):
        yield Text(f"Repeatability needs at least {LEAST_BLOCKS} full blocks.", "dim")
    found = [*costs(submission.probes)]
    yield from map(Text, ("", *found) if found else ())
    yield from _flags(summary.flags, width)


def _text(
    text: str, width: int, *, style: str = "", first: str = "", rest: str = ""
) -> Iterator[Text]:
    for line in folded(text, width, first=first, rest=rest):
        yield Text(line, style)


def _header(submission: Submission) -> Iterator[Text]:
    engine, suite, named = submission.engine, submission.suite, identify(submission)
    package = f" ({engine.runner} {engine.package_version})" if engine.package_version else ""
    prompts = say.count(len(suite.prompts), "prompt")
    prompts += f" in {say.count(blocks_run(submission), 'block')}"
    longest = submission.settings.max_output_tokens
    fields = {
        "machine": f"{named.device_label}, {engine.backend_label}",
        "engine": f"{named.engine_build}{package}",
        "target": words.model(submission.target),
        "tier": "" if submission.tier == "measured" else sentence("imported"),
        "campaign": f"{submission.profile}, {submission.measured_from[:10]}",
        "suite": f"{suite.id} {suite.version}, {prompts}"
        + (f", {longest} tokens each" if longest else ""),
        "began": began(submission),
        "ended": ended(submission),
    }
    for name, value in fields.items():
        if value:
            yield Text.assemble((f"{name:<9}", "dim"), value)


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
    """Return why the run ended: `after 4 of at most 6 blocks: precise enough, ±2.1 %`."""
    design, done = submission.design, blocks_run(submission)
    half_width = deciding(submission)
    found = "unknown precision" if half_width is None else _within(half_width)
    match design.ended:
        case "precise-enough":
            return f"after {done} of at most {design.blocks} blocks: precise enough, {found}"
        case "budget-spent":
            budget = "" if design.budget_s is None else f" of {words.seconds(design.budget_s)}"
            left = f"after {done} of {say.count(design.blocks, 'block')}"
            return f"{left}: the time limit{budget} was reached, {found}"
        case "interrupted":
            return f"interrupted in block {done} of {design.blocks}; --resume continues"
        case "completed":
            passes = "the only block" if done == 1 else f"all {say.count(done, 'block')}"
            again = {each.prompt for each in submission.trials if each.block >= design.blocks}
            more = f"; {say.count(len(again), 'prompt')} measured again" if again else ""
            return f"after {passes}, as planned{more}"


def _within(half_width: float) -> str:
    return f"\N{PLUS-MINUS SIGN}{say.percent(half_width, 1)}"


def described(arm: Arm, submission: Submission) -> str:
    """Return what drafts in an arm: `Tiny-500M Q8_0 drafts up to 4 tokens`."""
    if arm.role == "alternative":
        layers = arm.placement.target_gpu_layers_requested if arm.placement else None
        asked = {None: "", -1: ", all its layers on the GPU"}
        return f"the target alone{asked.get(layers, f', {layers} layers on the GPU')}"
    method, depth = arm.method, limit(arm.method)
    upto = f" up to {depth} tokens" if depth else ""
    if varied := depths.varied_by(method):
        upto += f", {varied}"
    if is_lossy(arm):
        upto += ", with lossy verification: by design, answers differ from the target's"
    if method.length is not None:
        return f"acceptance set to {method.length:g} tokens per round, {depth} drafted"
    if method.draft is not None:
        names = {model.id: f"{model.name} {model.quantisation}" for model in submission.drafts}
        return f"{names.get(method.draft, method.draft)} drafts{upto}"
    return (METHODS[method.type].reported or f"{method.type} drafts") + upto


def _arm(arm: Arm, submission: Submission, summary: Summary, width: int) -> Iterator[Text]:
    estimates = [each for each in summary.estimates if each.arm == arm.id]
    if not estimates:
        return
    whole = words.overall(estimates)
    request = whole_request(whole)
    yield from _text(reason(whole, submission), width)
    if all(each.speedup is None for each in estimates):
        yield from _text(request, width)
        return
    yield from _text(words.over_alternative(whole), width)
    rows = [tuple(map(Text, _COLUMNS)), *map(_row, estimates)]
    for row, line in zip(
        (None, *estimates), words.aligned(rows, right={4, 5, 6}, width=width), strict=True
    ):
        line.stylize("dim" if row is None else "bold" if row.task is None else "")
        yield line
    spread = next((each for each in summary.repeatability if each.arm == arm.id), None)
    unread = sentence("no-prompt-time") if (arm.concurrency or 1) == 1 else ""
    for text in (
        words.acceptance(whole),
        words.energy(whole),
        request or unread,
        repeatability(spread),
    ):
        yield from _text(text, width)


def _row(estimate: Estimate) -> tuple[Text, ...]:
    verdict = VERDICTS[estimate.verdict]
    return (
        Text(estimate.scope),
        Text(f"{verdict.sign} {verdict.short}", style=verdict.terminal),
        Text(words.rates(estimate)),
        Text(words.speedup(estimate.speedup, estimate.interval, at_most=estimate.at_most)),
        Text(say.times(estimate.whole_request)),
        Text(words.rounds(estimate)),
        Text("lossy" if estimate.doubt == LOSSY else words.exactness(estimate.exactness)),
    )


def repeatability(found: Repeatability | None) -> str:
    """Describe the range of the speedup if the prompts are rerun."""
    if found is None or found.half_width is None:
        return ""
    return (
        "If these prompts are measured again, the speedup is expected to be within "
        f"{_within(found.half_width)} of this one ({say.count(found.blocks, 'block')})."
    )


def _concurrency(found: Sequence[Throughput]) -> Iterator[tuple[Text, ...]]:
    """Yield a table of throughput by concurrency; each level starts with its baseline."""
    yield tuple(Text(heading, "dim") for heading in _CONCURRENCY_COLUMNS)
    for each in sorted(found, key=lambda item: item.concurrency):
        total = words.speedup(each.total_speedup, each.interval) if each.total_speedup else ""
        rates = (say.rate(each.stream_tps), say.rate(each.total_tps))
        yield tuple(map(Text, (str(each.concurrency), each.arm, *rates, total)))


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
    same = sum(each.identical for each in counts)
    return f"; {same} of {compared} outputs identical" if compared else ""


def costs(probes: Probes | None) -> Iterator[str]:
    """Yield the verification curve and the drafting costs as text; nothing without probes."""
    curve = probes.verification if probes else None
    if curve is not None and curve.widths[0] == 1:
        yield "Cost of one target step by its number of tokens (1.00 is one plain token):"
        single_ms, longest = curve.step_ms_median[0], max(curve.step_ms_median)
        for width, step_ms in zip(curve.widths, curve.step_ms_median, strict=True):
            bar = "█" * max(1, round(_BAR_LENGTH * step_ms / longest))
            yield (
                f"  {width:>4} {bar:<{_BAR_LENGTH}} {step_ms / single_ms:>5.2f}  {step_ms:.1f} ms"
            )
    for cost in (probes.drafting if probes else None) or ():
        yield f"  drafting one token with {cost.draft}: {cost.token_ms_median:.1f} ms"


def _flags(flags: Sequence[Flag], width: int) -> Iterator[Text]:
    if flags:
        yield from (Text(), Text("Before you trust these figures:", "bold"))
    for flag in flags:
        mark, style = words.SEVERITIES[flag.severity]
        text = f"{mark} {flag.name}: {flag.message}"
        yield from _text(text, width, style=style, first=INDENT, rest=2 * INDENT)
        yield from _text(console.as_started(flag.remedy), width, first=2 * INDENT, rest=2 * INDENT)
