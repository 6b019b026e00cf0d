"""Print a plan: memory by device and buffer, layers, context, speed, and the alternatives."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from answers.choices import Plan, PlanOption
from answers.learned import learned, logged_memory_error
from answers.model import KIND_LABELS, KINDS, Buffers
from answers.rounds import Speculation, tokens_per_round
from answers.speed import NEAREST_ERROR, SpeedEstimate
from answers.warnings import SLOWER
from harness.machine.command_line import pasted
from harness.plan.confirm import run_line
from harness.report.use import folded
from schemas.vocabulary import say

_BASES = {
    "nearest": "from the nearest machines",
    "physics": "from bytes and bandwidth",
}
_NO_LIMIT_MIB = 1e8
_ABOUT_EVEN, _CLEARLY_FASTER = 0.99, 1.05


def show(plan: Plan, screen: Console, server: Path | None = None) -> None:
    """Print a plan; `server` is the llama-server that this machine has for it."""
    drafting = f" with {plan.drafting} drafting" if plan.drafting else " without a draft"
    setting = plan.asked.case.setting
    slots = f", {say.count(setting.slots, 'slot')}" if setting.slots > 1 else ""
    title = f"{plan.target}{drafting}, context of {say.count(setting.context, 'token')}{slots}"
    screen.print(Text(title, style="dim"), soft_wrap=True)
    for line in _answer(plan):
        screen.print(Text(line, style="bold"))
    screen.print()
    screen.print(_memory(plan.asked))
    screen.print()
    for line in _facts(plan):
        screen.print(Text(line), soft_wrap=True)
    shown = [each for each in plan.warnings if not each.startswith(SLOWER)]  # the answer says so
    if shown:
        screen.print()
        for warning in shown:
            screen.print(Text.assemble(("! ", "yellow"), warning[:1].upper() + warning[1:] + "."))
    screen.print()
    screen.print(_alternatives(plan))
    screen.print()
    for line in _commands(plan, server):
        screen.print(Text(line), soft_wrap=True)
    for line in _own_error(plan):
        screen.print(Text(line, style="dim"))


def _commands(plan: Plan, server: Path | None) -> Iterator[str]:
    """What loads the best way and what measures it, as far as its files can be had."""
    best = plan.best
    if not best.fits:
        yield "This file fits in no way: take a smaller quantisation or another model."
        return
    what = plan.asked.changes if best is plan.asked else best.changes
    given = " if the assumed acceptance holds" if best.acceptance_assumed else ""
    command = best.command
    if command or best is not plan.asked:
        yield f"Fastest with this file{given} ({what}){':' if command else '.'}"
    if command:
        yield f"  {pasted([str(server or command.words[0]), *command.words[1:]])}"
        yield from folded(command.note or "")
    measure = run_line(plan)
    if measure is None:
        yield f"Where to fetch {plan.target} is not known: name a GGUF file or owner/repo:quant."
    else:
        yield "To be sure, measure it:"
        yield f"  {measure}"


def _answer(plan: Plan) -> Iterator[str]:
    """Whether it fits, what speculation makes of the speed, and what is faster."""
    asked, gain = plan.asked, plan.speedup
    rate = f"about {asked.tps.estimate:.1f} tokens/s"
    if not asked.fits:
        yield "No: it does not fit."
    elif plan.chosen:
        yield _advice(plan, rate)
        yield from _losses(plan)
    elif gain is None:
        yield f"Yes, it fits{_where(asked)}: {rate}{_assumed(asked.tps)}."
    else:
        instead = f"{rate} instead of {plan.alone.tps.estimate:.1f}"
        times = say.speedup(gain.estimate, gain.low, gain.high)
        yield f"{_verdict(gain)}: {times}{_assumed(gain)}, {instead}."
    yield from _better(plan)


def _advice(plan: Plan, rate: str) -> str:
    """What to switch on, and how sure that is; or that nothing helps."""
    gain, what = plan.speedup, plan.drafting
    if gain is None:
        return f"No gain is expected here: leave it switched off, {rate}{_where(plan.asked)}."
    figures = f"{say.speedup(gain.estimate, gain.low, gain.high)} {_basis(gain)}"
    figures += f", {rate} instead of {plan.alone.tps.estimate:.1f}"
    if plan.asked.speculation and plan.asked.speculation.source == "text" and gain.assumes:
        return (
            f"Perhaps: drafts from the text ({plan.asked.speculation.method}) gain where an answer "
            f"repeats its prompt, as edits of code do: {figures}. Measure it on what you ask."
        )
    return {
        3: f"Switch it on, {what}: {figures}.",
        2: f"Switch it on, {what}, probably a gain: {figures}.",
        1: f"Perhaps {what}: {figures}. Measure it before you switch it on.",
    }[plan.asked.promise]


def _losses(plan: Plan) -> Iterator[str]:
    """The other ways of drafting that would be slower."""
    for each in plan.alternatives:
        variant = each.changes.startswith(plan.asked.changes)
        if each.gain and each.gain.estimate < _ABOUT_EVEN and not variant:
            gain = say.speedup(each.gain.estimate, each.gain.low, each.gain.high)
            yield f"Not {each.changes}: {gain}, {_basis(each.gain)}."


def _verdict(gain: SpeedEstimate) -> str:
    """Whether speculation makes it faster; what rests on an assumption only may."""
    if gain.estimate < _ABOUT_EVEN:
        return "It fits, but the draft probably makes it slower"
    if gain.low > 1 and not gain.assumes:
        return "Yes, it fits and is faster"
    return "It fits, and may be faster"


def _assumed(value: SpeedEstimate) -> str:
    return f" ({say.listed(value.assumes)} assumed)" if value.assumes else ""


def _better(plan: Plan) -> Iterator[str]:
    """What the same memory could do faster, if there is anything."""
    asked, target = plan.asked, plan.asked.case.target
    crowded = not asked.fits or asked.found.placement.layers < target.placed_layers
    others = [
        each
        for each in plan.alternatives
        if each.fits and not each.tps.loses
        if (crowded or each.case.target is target)  # another model only for need
        if not (plan.chosen and each.speculation and asked.fits)  # the best way is the answer
    ]
    better = max(others, key=lambda each: each.tps.estimate, default=None)
    least = asked.tps.estimate * _CLEARLY_FASTER if asked.fits else 0.0
    if better is not None and better.tps.estimate > least:
        surely = "May be faster" if better.acceptance_assumed and asked.fits else "Probably better"
        rate = f"about {better.tps.estimate:.1f} tokens/s{_assumed(better.tps)}"
        yield f"{surely}: {better.changes}, {rate}."


def _where(choice: PlanOption) -> str:
    whole, layers = choice.case.target.placed_layers, choice.found.placement.layers
    if not choice.case.devices or layers == 0:
        return " in main memory"
    experts = choice.found.placement.cpu_experts
    if experts:
        return f", the experts of {say.count(experts, 'layer')} in main memory"
    return " on the card as a whole" if layers == whole else f", {layers} of {whole} layers on it"


def _memory(choice: PlanOption) -> Table:
    """One column per place, one row per kind of buffer that is there."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("MiB", no_wrap=True)
    places: list[tuple[str, float, Buffers]] = [
        (memory.name, memory.free_mib, buffers)
        for memory, buffers in zip(choice.case.devices, choice.found.devices, strict=False)
    ]
    places.append(("main memory", choice.case.host.free_mib, choice.found.host))
    for name, _, _ in places:
        table.add_column(Text(name), justify="right")
    for kind in KINDS:
        sizes = [getattr(buffers, kind) for _, _, buffers in places]
        if any(sizes):
            table.add_row(KIND_LABELS[kind], *(_mib(size) for size in sizes))
    table.add_row("total", *(_mib(buffers.total()) for _, _, buffers in places), style="bold")
    table.add_row(
        "available", *(_mib(free) if free < _NO_LIMIT_MIB else "?" for _, free, _ in places)
    )
    return table


def _facts(plan: Plan) -> list[str]:
    whole = plan.asked.case.target.placed_layers
    layers = (_placed(plan.asked, whole), _placed(plan.alone, whole))
    lines = [_both("layers on devices", *layers, plan)]
    # Of these layers: with fewer of them on the devices, a longer context would fit.
    contexts = (f"{_tokens(plan.context_max)} with these layers", _tokens(plan.context_max_alone))
    lines.append(_both("largest context", *contexts, plan))
    lines.append(f"plain speed        {_rate(plan.alone.tps)}")
    if plan.speedup is not None:
        gain = plan.speedup
        times = say.speedup(gain.estimate, gain.low, gain.high)
        lines.append(f"with speculation   {_rate(plan.asked.tps)}")
        lines.append(f"speedup            {times}, {_basis(gain)}")
        lines += _factors(plan.asked.speculation, gain)
    source = "the engine's own allocation" if plan.exact else "closed forms"
    lines.append(f"memory from        {source}")
    return lines


def _factors(speculation: Speculation | None, gain: SpeedEstimate) -> Iterator[str]:
    """The two factors of a speedup, tokens over steps, with what was published about each."""
    if speculation is None:
        return
    low, usual, high = (
        tokens_per_round(chance, speculation.depth) for chance in speculation.chances()
    )
    key = (speculation.method, speculation.depth)
    known = next((x for x in learned().rounds if (x.method, x.depth) == key), None)
    whence = "assumed" if speculation.acceptance is None else "from your acceptance"
    if speculation.acceptance is None and speculation.curve is not None:
        whence = f"published for {speculation.curve.target} by {speculation.curve.source}"
    there = f"; {known.tokens:.1f} in {known.pairs} published pairs" if known else ""
    yield f"a round yields     {usual:.1f} tokens [{low:.1f}, {high:.1f}], {whence}{there}"
    there = (
        f"; {known.cost:.1f} [{known.low:.1f}, {known.high:.1f}] in those pairs" if known else ""
    )
    yield f"a round costs      {usual / gain.estimate:.1f} plain steps{there}"


def _placed(choice: PlanOption, whole: int) -> str:
    placement = choice.found.placement
    experts = f", experts of {placement.cpu_experts} in main memory" if placement.layers else ""
    return f"{placement.layers} of {whole}" + (experts if placement.cpu_experts else "")


def _tokens(count: int | None) -> str:
    return "none fits" if count is None else say.count(count, "token")


def _both(label: str, with_draft: str, alone: str, plan: Plan) -> str:
    text = with_draft if plan.speedup is None else f"{with_draft}; without a draft {alone}"
    return f"{label:<18} {text}"


def _rate(value: SpeedEstimate) -> str:
    return f"{value.estimate:.1f} tokens/s [{value.low:.1f}, {value.high:.1f}], {_basis(value)}"


def _basis(value: SpeedEstimate) -> str:
    return _BASES[value.basis] + _assumed(value)


def _mib(size: float) -> str:
    if size == 0:
        return ""
    return f"{size:,.0f}" if size >= 10 else f"{size:.2f}"  # noqa: PLR2004 - two digits suffice


def _alternatives(plan: Plan) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("tokens/s", justify="right", no_wrap=True)
    table.add_column("between", justify="right", no_wrap=True)
    table.add_column("fits", no_wrap=True)
    table.add_column("What the same memory could do")
    ranked = sorted(
        (plan.asked, *plan.alternatives), key=lambda each: (not each.fits, -each.tps.estimate)
    )
    for each in ranked:
        style = "bold" if each is plan.asked else ""
        fits = "yes" if each.fits else "no"
        tps = each.tps
        between = f"{tps.low:.1f} to {tps.high:.1f}"
        table.add_row(f"{tps.estimate:.1f}", between, fits, Text(each.label), style=style)
    return table


def _own_error(plan: Plan) -> Iterator[str]:
    """How far such plans were from what was measured."""
    errors, before = learned().errors, "own error: "
    speed = errors.speed if plan.alone.tps.basis == "nearest" else errors.bare
    if speed is not None and not plan.alone.tps.assumes:
        how = "of the same device" if speed is errors.speed else "known for the card"
        what = "results" if speed is errors.speed else "the bandwidth"
        yield (
            f"{before}{say.percent(speed.within)} of {speed.points} measured speeds within "
            f"a factor of {NEAREST_ERROR:g}, predicted from {what} {how}"
        )
        before = " " * len(before)
    if not plan.exact:
        yield f"{before}{logged_memory_error().words}"
