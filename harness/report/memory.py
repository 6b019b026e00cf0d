"""Prints a plan: memory by device and buffer, layers, context, speed, and the alternatives."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from estimates.plan.choices import Choice, Plan
from estimates.plan.model import KIND_LABELS, KINDS, Buffers
from estimates.plan.speed import Estimate
from harness import PROGRAM
from schemas.vocabulary import say

_BASES = {
    "measured": "from your measurement",
    "nearest": "from the nearest machines",
    "physics": "from bytes and bandwidth",
}
_NO_LIMIT_MIB = 1e8


def show(plan: Plan, screen: Console) -> None:
    """Print the plan for people."""
    screen.print(Text(_title(plan), style="bold"))
    screen.print()
    screen.print(_memory(plan.asked))
    screen.print()
    for line in _facts(plan):
        screen.print(Text(line), soft_wrap=True)
    if plan.warnings:
        screen.print()
        for warning in plan.warnings:
            screen.print(Text.assemble(("! ", "yellow"), warning[:1].upper() + warning[1:] + "."))
    screen.print()
    screen.print(_alternatives(plan))
    screen.print()
    screen.print("Fastest with this file:")
    screen.print(Text(f"  {plan.best.command}"), soft_wrap=True)
    screen.print("To be sure, measure it:")
    screen.print(Text(f"  {_measure(plan)}"), soft_wrap=True)


def _title(plan: Plan) -> str:
    drafting = f" with {plan.drafting} drafting" if plan.drafting else " without a draft"
    setting = plan.asked.case.setting
    slots = f", {say.count(setting.slots, 'slot')}" if setting.slots > 1 else ""
    fits = "fits" if plan.asked.fits else "does not fit"
    context = say.count(setting.context, "token")
    return f"{plan.target}{drafting}, context of {context}{slots}: {fits}"


def _memory(choice: Choice) -> Table:
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
    table.add_row("free", *(_mib(free) if free < _NO_LIMIT_MIB else "?" for _, free, _ in places))
    return table


def _facts(plan: Plan) -> list[str]:
    whole = plan.asked.case.target.placed_layers
    layers = (_placed(plan.asked, whole), _placed(plan.alone, whole))
    lines = [_both("layers on devices", *layers, plan)]
    contexts = (_tokens(plan.context_max), _tokens(plan.context_max_alone))
    lines.append(_both("largest context", *contexts, plan))
    lines.append(f"plain speed        {_rate(plan.alone.tps)}")
    if plan.speedup is not None:
        gain = plan.speedup
        times = say.speedup(gain.estimate, gain.low, gain.high)
        lines.append(f"with speculation   {_rate(plan.asked.tps)}")
        lines.append(f"speedup            {times}, {_BASES[gain.basis]}")
    source = "the engine's own allocation" if plan.exact else "closed forms"
    lines.append(f"memory from        {source}")
    return lines


def _placed(choice: Choice, whole: int) -> str:
    placement = choice.found.placement
    experts = f", experts of {placement.cpu_experts} in main memory" if placement.layers else ""
    return f"{placement.layers} of {whole}" + (experts if placement.cpu_experts else "")


def _tokens(count: int | None) -> str:
    return "none fits" if count is None else say.count(count, "token")


def _both(label: str, with_draft: str, alone: str, plan: Plan) -> str:
    text = with_draft if plan.speedup is None else f"{with_draft}; without a draft {alone}"
    return f"{label:<18} {text}"


def _rate(value: Estimate) -> str:
    return (
        f"{value.estimate:.1f} tokens/s [{value.low:.1f}, {value.high:.1f}], {_BASES[value.basis]}"
    )


def _mib(size: float) -> str:
    if size == 0:
        return ""
    return f"{size:,.0f}" if size >= 10 else f"{size:.2f}"  # noqa: PLR2004 - two digits suffice


def _alternatives(plan: Plan) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("tokens/s", justify="right", no_wrap=True)
    table.add_column("fits", no_wrap=True)
    table.add_column("What the same memory could do")
    ranked = sorted(
        (plan.asked, *plan.alternatives), key=lambda each: (not each.fits, -each.tps.estimate)
    )
    for each in ranked:
        style = "bold" if each is plan.asked else ""
        fits = "yes" if each.fits else "no"
        table.add_row(f"{each.tps.estimate:.1f}", fits, Text(each.changes), style=style)
    return table


def _measure(plan: Plan) -> str:
    words = [f"{PROGRAM} run --quick --target", plan.target]
    layers = plan.asked.found.placement.layers
    if plan.asked.case.devices and layers < plan.asked.case.target.placed_layers:
        words.append(f"--gpu-layers {layers}")
    return " ".join(words)
