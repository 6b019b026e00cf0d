"""Print the report of a submission."""

from collections.abc import Iterator, Sequence
from textwrap import fill

from rich.console import Console
from rich.text import Text

from estimates.identity import identify
from estimates.model import Flag, Summary
from estimates.reasons import reason, whole_request
from estimates.repeatability import blocks_run
from harness.report import arm_table, trust, words
from schemas.submission import Arm, Submission
from schemas.vocabulary import say, sentence

_INDENT = "  "


def show(submission: Submission, summary: Summary, console: Console) -> None:
    console.print(Text("\n").join(_header(submission)))
    controls = {control.arm for control in summary.controls}
    for arm in submission.arms:
        if arm.role != "baseline" and arm.id not in controls:
            console.print()
            _print_arm(arm, submission, summary, console)
    if summary.throughput:
        _print_title(arm_table.CONCURRENCY_TITLE, console)
        console.print(arm_table.concurrency_table(summary.throughput))
        _print_wrapped(arm_table.CONCURRENCY_LEGEND, console, style="dim")
    if summary.controls:
        _print_title("Controls (their results are known in advance):", console)
    for line in trust.controls(summary):
        _print_wrapped(line, console, first=_INDENT, rest=2 * _INDENT)
    if any(estimate.speedup is not None for estimate in summary.estimates):
        console.print()
        _print_wrapped(arm_table.LEGEND, console, style="dim")
    _print_wrapped(trust.unknown_repeatability(summary), console, style="dim")
    costs = [*trust.costs(submission.probes)]
    for line in ("", *costs) if costs else ():
        console.print(Text(line))
    _print_flags(summary.flags, console)


def _print_arm(arm: Arm, submission: Submission, summary: Summary, console: Console) -> None:
    estimates = [e for e in summary.estimates if e.arm == arm.id]
    console.print(arm_table.title(arm, submission))
    if not estimates:
        return
    whole = words.overall(estimates)
    _print_wrapped(reason(whole, submission), console)
    if all(e.speedup is None for e in estimates):
        _print_wrapped(whole_request(whole), console)
        return
    _print_wrapped(words.over_alternative(whole), console)
    console.print(arm_table.table(estimates, console))
    repeated = next((spread for spread in summary.repeatability if spread.arm == arm.id), None)
    for text in (
        words.acceptance(whole),
        whole_request(whole) or (sentence("no-prompt-time") if (arm.concurrency or 1) == 1 else ""),
        trust.repeatability(repeated),
        trust.starts(repeated),
        trust.by_processor(whole),
        trust.predicted(estimates),
    ):
        _print_wrapped(text, console)


def _header(submission: Submission) -> Iterator[Text]:
    engine, suite, named = submission.engine, submission.suite, identify(submission)
    package = f" ({engine.runner} {engine.package_version})" if engine.package_version else ""
    prompts = say.count(len(suite.prompts), "prompt")
    prompts += f" in {say.count(blocks_run(submission), 'block')}"
    longest = submission.settings.max_output_tokens
    limit = f", {longest} tokens each" if longest else ""
    yield _field("machine", f"{named.device_label}, {engine.backend_label}")
    yield _field("engine", f"{named.engine_build}{package}")
    yield _field("target", words.model(submission.target))
    if submission.tier != "measured":
        yield _field("tier", sentence("imported"))
    yield _field("campaign", f"{submission.profile}, {submission.measured_from[:10]}")
    yield _field("suite", f"{suite.id} {suite.version}, {prompts}{limit}")
    if began := trust.began(submission):
        yield _field("began", began)
    yield _field("ended", trust.ended(submission))


def _field(name: str, value: str) -> Text:
    return Text.assemble((f"{name:<9}", "dim"), value)


def _print_title(text: str, console: Console) -> None:
    console.print()
    _print_wrapped(text, console, style="bold")


def _print_flags(flags: Sequence[Flag], console: Console) -> None:
    if flags:
        _print_title("Before you trust these figures:", console)
    for flag in flags:
        mark, style = words.SEVERITIES[flag.severity]
        text = f"{mark} {flag.name}: {flag.message}"
        _print_wrapped(text, console, style=style, first=_INDENT, rest=2 * _INDENT)
        _print_wrapped(flag.remedy, console, first=2 * _INDENT, rest=2 * _INDENT)


def _print_wrapped(
    text: str, console: Console, *, style: str = "", first: str = "", rest: str = ""
) -> None:
    """Print a paragraph without the trailing blanks that rich leaves; print nothing if empty."""
    if not text:
        return
    paragraph = fill(
        text,
        console.width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    console.print(Text(paragraph, style=style), soft_wrap=True)
