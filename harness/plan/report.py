"""Print an answer: sentences and commands, and details if requested."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from answers.answer import Answer
from answers.choices import PlanOption
from answers.measure import measure_words
from answers.model import KIND_LABELS, KINDS, Buffers
from answers.words import sentences
from harness import PROGRAM
from harness.machine.command_line import pasted
from harness.record import measured_here
from harness.report.use import folded
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import say

_BASES = {
    "here": "measured here",
    "measured": "measured with this model",
    "imported": "imported for this model",
    "published": "published for this model",
    "predicted": "predicted",
    "curve": "from the measured curve",
    "nearest": "from the nearest machines",
    "physics": "from bytes and bandwidth",
}


def show(found: Answer, screen: Console, server: Path | None = None, *, details: bool) -> None:
    """Print an answer; `server` is this machine's llama-server."""
    said = sentences(found)
    for number, line in enumerate((*measured_here.lines(found), *said.lines())):
        screen.print(Text(line, style="" if number else "bold"), soft_wrap=True)
    below = [*_commands(found, server), *([said.instead] if said.instead else [])]
    if below:
        screen.print()
    for line in below:
        screen.print(Text(line), soft_wrap=True)
    if details:
        _show_details(found, screen)
    screen.print()
    more = "" if details else " --details shows buffers, all drafting methods and sources."
    screen.print(Text(said.accuracy + more, style="dim"), soft_wrap=True)


def _commands(found: Answer, server: Path | None) -> Iterator[str]:
    """Yield the commands that use and measure the best way to draft, if its files are known."""
    best = found.best
    if not best.fits:
        return
    command = found.command
    if command is not None:
        words = pasted([str(server or command.words[0]), *command.words[1:]])
        yield f"Use it:     {words}"
        yield from folded(command.note or "")
    measure = measure_words(found)
    if found.question.engine != LLAMA_CPP:
        yield f"Measure it: `{PROGRAM} run --help` has the options for a server that you start."
    elif measure is None and best.draft is not None and best.target.is_here:
        yield "To get commands, name the draft file instead of its method."
    elif measure is None:
        name = found.question.name
        yield f"The repository of {name} is unknown: name a GGUF file or owner/repo:quant."
    else:
        there = "  (on that machine)" if found.question.computer.described else ""
        yield f"Measure it: {pasted([*PROGRAM.split(), *measure])}{there}"


def _show_details(found: Answer, screen: Console) -> None:
    screen.print()
    screen.print(_memory(found.asked))
    source = "the engine's own allocation" if found.exact else "closed forms"
    screen.print(f"memory from {source}; plain speed {_BASES[found.alone.tps.basis]}")
    for warning in found.warnings:
        text = warning[:1].upper() + warning[1:]
        screen.print(Text.assemble(("! ", "yellow"), f"{text}."), soft_wrap=True)
    screen.print()
    screen.print(_alternatives(found))
    for figures in found.figures:
        where = say.listed(figures.sources)
        line = f"{figures.method}: {say.times(figures.speedup)}"
        screen.print(Text(f"{line}, {figures.tier}, from {where}"), soft_wrap=True)


def _memory(choice: PlanOption) -> Table:
    """Return a table of memory use: a column per memory pool, a row per kind of buffer in use."""
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
    table.add_row("available", *(_mib(free) for _, free, _ in places))
    return table


def _mib(size: float) -> str:
    if size == 0:
        return ""
    return f"{size:,.0f}" if size >= 10 else f"{size:.2f}"  # noqa: PLR2004 - two digits suffice


def _alternatives(found: Answer) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("tokens/s", justify="right", no_wrap=True)
    table.add_column("between", justify="right", no_wrap=True)
    table.add_column("fits", no_wrap=True)
    table.add_column("Other uses of the same memory")
    ranked = sorted(
        (found.asked, *found.alternatives), key=lambda each: (not each.fits, -each.tps.estimate)
    )
    for each in ranked:
        style = "bold" if each is found.asked else ""
        fits = "yes" if each.fits else "no"
        tps = each.tps
        between = f"{tps.low:.1f} to {tps.high:.1f}"
        table.add_row(f"{tps.estimate:.1f}", between, fits, Text(each.changes), style=style)
    return table
