"""Print an answer: sentences and commands, and details if requested."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness import PROGRAM
from harness.errors import BadInputError
from harness.machine.command_line import pasted
from harness.machine.engines import SERVER_PROGRAM
from harness.record import measured_here
from harness.report.use import folded
from planner.answer import Answer
from planner.engine_commands import ServeLine
from planner.engine_table import ENGINES
from planner.measure import measure_words
from planner.memory_words import expert_cache
from planner.words import accuracy, lines
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS, say


def show(found: Answer, screen: Console, server: str | None = None, *, details: bool) -> None:
    """Print an answer; `server` is this machine's llama-server."""
    for number, line in enumerate((*measured_here.lines(found), *lines(found))):
        screen.print(Text(line, style="" if number else "bold"), soft_wrap=True)
    below = [*_commands(found, server)]
    for line in ["", *below] if below else ():
        screen.print(Text(line), soft_wrap=True)
    if details:
        _show_details(found, screen)
    more = "" if details else " --details shows all drafting methods and sources."
    screen.print()
    screen.print(Text(accuracy(found) + more, style="dim"), soft_wrap=True)


def _commands(found: Answer, server: str | None) -> Iterator[str]:
    """Yield the commands that use and measure the best way to draft, if its files are known."""
    best = found.best
    if not best.fits:
        return
    yield from _use(found, server)
    yield from (f"Or try:     {each}." for each in expert_cache(best))
    measure = measure_words(found)
    if found.question.engine != LLAMA_CPP:
        yield f"Measure it: `{PROGRAM} run --help` has the options for a server that you start."
    elif measure is None:
        yield _unnamed(found)
    else:
        there = "  (on that machine)" if found.question.computer.described else ""
        yield f"Measure it: {pasted([*PROGRAM.split(), *measure])}{there}"


def _use(found: Answer, server: str | None) -> Iterator[str]:
    """Yield how to use the best way to draft in the engine that was asked for."""
    command, best = found.command, found.best
    if command is None:
        method = METHODS[best.way.method].label if best.way else ""
        yield f"{ENGINES[best.target.engine].label} has no {method}."
        return
    shown = command.text.splitlines()
    if not ENGINES[best.target.engine].lines:
        program, *words = command.words
        shown = [pasted([server if server and program == SERVER_PROGRAM else program, *words])]
    yield f"Use it:     {shown[0]}"
    yield from (f"            {line}" for line in shown[1:])
    yield from folded(command.note or "")


def _unnamed(found: Answer) -> str:
    """Return what to name, so that a server can load the models."""
    if found.best.target.is_here:
        return "To get commands, name the draft file instead of its method."
    gguf = ENGINES[found.question.engine].hub is not None
    form = "a GGUF file or owner/repo:quant" if gguf else "owner/repo"
    return f"The repository of {found.question.name} is unknown: name {form}."


def loadable(found: Answer) -> ServeLine:
    """Return the recommended setting. Raises `BadInputError` unless a server can load it."""
    best, line = found.best, found.command
    if line is None:
        raise BadInputError("--write: there is no setting to write for this engine")
    if not all(each.is_here for each in filter(None, (best.target, best.draft))):
        raise BadInputError(f"--write: {_unnamed(found)}")
    return line


def _show_details(found: Answer, screen: Console) -> None:
    screen.print()
    screen.print(_alternatives(found))
    for figures in found.figures:
        where = say.listed(figures.sources)
        line = f"{figures.method}: {say.times(figures.speedup)}"
        screen.print(Text(f"{line}, {figures.tier}, from {where}"), soft_wrap=True)


def _alternatives(found: Answer) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    for heading in ("tokens/s", "between"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("fits", no_wrap=True)
    table.add_column("Other uses of the same memory")
    ranked = sorted(
        (found.asked, *found.alternatives), key=lambda each: (not each.fits, -each.tps.estimate)
    )
    for each in ranked:
        tps, style = each.tps, "bold" if each is found.asked else ""
        numbers = (f"{tps.estimate:.1f}", f"{tps.low:.1f} to {tps.high:.1f}")
        table.add_row(*numbers, "yes" if each.fits else "no", Text(each.changes), style=style)
    return table
