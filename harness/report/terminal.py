"""What does the whole report look like? Header, arms, costs and flags, on a console."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

from rich.console import Console
from rich.text import Text

from estimates.explain import reason
from estimates.model import Estimate, Flag, Summary
from estimates.repeatability import blocks_run
from estimates.understanding import build_name
from harness.report import arms, trust, words
from schemas.submission import Arm, Submission
from schemas.vocabulary import say

_INDENT = "  "


def show(submission: Submission, summary: Summary, console: Console) -> None:
    """Print the report of a submission."""
    for line in _header(submission):
        console.print(line)
    instruments = {control.arm for control in summary.controls}
    for arm in submission.arms:
        if arm.role != "baseline" and arm.id not in instruments:
            console.print()
            _print_arm(arm, submission, summary, console)
    _print_crowd(summary, console)
    _print_controls(summary, console)
    if any(estimate.speedup is not None for estimate in summary.estimates):
        console.print()
        _print_wrapped(arms.LEGEND, console, style="dim")
    _print_wrapped(trust.unknown_repeatability(summary), console, style="dim")
    _print_curve(submission, console)
    _print_flags(summary.flags, console)


def _print_arm(arm: Arm, submission: Submission, summary: Summary, console: Console) -> None:
    estimates = [e for e in summary.estimates if e.arm == arm.id]
    console.print(arms.title(arm, submission))
    _print_wrapped(_reason(estimates, submission), console)
    if any(e.speedup is not None for e in estimates):
        _print_wrapped(words.over_alternative(overall(estimates)), console)
        console.print(arms.table(estimates, console))
        found = next((each for each in summary.repeatability if each.arm == arm.id), None)
        _print_wrapped(trust.repeatability(found), console)
        _print_wrapped(trust.by_processor(overall(estimates)), console)
        _print_wrapped(trust.predicted(estimates), console)
        _print_energy(overall(estimates), submission, console)


def _print_crowd(summary: Summary, console: Console) -> None:
    if summary.throughput:
        console.print()
        _print_wrapped(arms.CONCURRENCY_TITLE, console, style="bold")
        console.print(arms.concurrency_table(summary.throughput))
        _print_wrapped(arms.CONCURRENCY_LEGEND, console, style="dim")


def _print_controls(summary: Summary, console: Console) -> None:
    for number, line in enumerate(trust.controls(summary)):
        if number == 0:
            console.print()
            console.print(Text("Controls, whose answers are known:", style="bold"))
        _print_wrapped(line, console, first=_INDENT, rest=2 * _INDENT)


def overall(estimates: Sequence[Estimate]) -> Estimate:
    """The estimate over all tasks; with a single task, that one."""
    whole = next((e for e in estimates if e.task is None), None)
    if whole is not None and whole.speedup is not None:
        return whole
    tasks = [e for e in estimates if e.task is not None]
    if len(tasks) == 1 or whole is None:
        return tasks[0]
    return whole


def _header(submission: Submission) -> Iterator[Text]:
    engine, machine, suite = submission.engine, submission.machine, submission.suite
    card = machine.gpus[0] if machine.gpus and engine.backend != "cpu" else None
    memory = f" {card.vram_mib / 1024:.0f} GiB" if card and card.vram_mib else ""
    place = f"{card.name}{memory}" if card else machine.cpu.name or say.UNKNOWN
    package = f" ({engine.runner} {engine.package_version})" if engine.package_version else ""
    prompts = say.count(len(suite.prompts), "prompt")
    prompts += f" in {say.count(blocks_run(submission), 'block')}"
    longest = submission.settings.max_output_tokens
    limit = f", {longest} tokens each" if longest else ""
    yield _field("machine", f"{place}, {engine.backend}")
    version = engine.version or build_name(engine.build_number)
    yield _field("engine", f"{engine.name} {version}{package}")
    yield _field("target", words.model(submission.target))
    if submission.tier != "measured":
        yield _field("tier", f"{submission.tier}; never averaged with measured results")
    yield _field("campaign", f"{submission.profile}, {submission.measured_from[:10]}")
    yield _field("suite", f"{suite.id} {suite.version}, {prompts}{limit}")
    yield _field("ended", trust.ended(submission))


def _field(name: str, value: str) -> Text:
    return Text.assemble((f"{name:<9}", "dim"), value)


def _reason(estimates: Sequence[Estimate], submission: Submission) -> str:
    return reason(overall(estimates), submission) if estimates else ""


def _print_energy(estimate: Estimate, submission: Submission, console: Console) -> None:
    said = words.energy(estimate, submission.settings.energy_method)
    if said is not None:
        _print_wrapped(said, console)


def _print_curve(submission: Submission, console: Console) -> None:
    for number, line in enumerate(trust.lines(submission.probes)):
        if number == 0:
            console.print()
        console.print(Text(line))


def _print_flags(flags: Sequence[Flag], console: Console) -> None:
    if flags:
        console.print()
        console.print(Text("Before you trust these figures:", style="bold"))
    for flag in flags:
        mark, style = words.SEVERITIES[flag.severity]
        said = f"{mark} {flag.name}: {flag.message}"
        _print_wrapped(said, console, style=style, first=_INDENT, rest=2 * _INDENT)
        _print_wrapped(flag.remedy, console, first=2 * _INDENT, rest=2 * _INDENT)


def _print_wrapped(
    said: str, console: Console, *, style: str = "", first: str = "", rest: str = ""
) -> None:
    """A paragraph without the blanks that rich leaves at the ends of lines; nothing for no text."""
    if not said:
        return
    paragraph = fill(
        said,
        console.width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    console.print(Text(paragraph, style=style), soft_wrap=True)
