"""Print the report of a submission, and compare the engines of one command."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill

from rich.console import Console
from rich.text import Text

from estimates.explain import reason, whole_request
from estimates.identity import identify
from estimates.model import Estimate, Flag, Summary
from estimates.passes import single_pass
from estimates.ratios import baseline_ratio
from estimates.repeatability import blocks_run
from harness.report import arms, trust, words
from schemas.submission import Arm, Submission
from schemas.vocabulary import VERDICTS, say

_INDENT = "  "


def show(submission: Submission, summary: Summary, console: Console) -> None:
    """Print the report of a submission."""
    for line in _header(submission):
        console.print(line)
    controls = {control.arm for control in summary.controls}
    for arm in submission.arms:
        if arm.role != "baseline" and arm.id not in controls:
            console.print()
            _print_arm(arm, submission, summary, console)
    _print_throughput(summary, console)
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
    if estimates:
        _print_wrapped(reason(words.overall(estimates), submission), console)
    if any(e.speedup is not None for e in estimates):
        _print_wrapped(words.over_alternative(words.overall(estimates)), console)
        console.print(arms.table(estimates, console))
        found = next((each for each in summary.repeatability if each.arm == arm.id), None)
        _print_wrapped(whole_request(words.overall(estimates)), console)
        _print_wrapped(trust.repeatability(found), console)
        _print_wrapped(trust.by_processor(words.overall(estimates)), console)
        _print_wrapped(trust.predicted(estimates), console)
        _print_energy(words.overall(estimates), submission, console)


def _print_throughput(summary: Summary, console: Console) -> None:
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
        yield _field("tier", f"{submission.tier}; never averaged with measured results")
    yield _field("campaign", f"{submission.profile}, {submission.measured_from[:10]}")
    yield _field("suite", f"{suite.id} {suite.version}, {prompts}{limit}")
    yield _field("ended", trust.ended(submission))


def _field(name: str, value: str) -> Text:
    return Text.assemble((f"{name:<9}", "dim"), value)


def _print_energy(estimate: Estimate, submission: Submission, console: Console) -> None:
    text = words.energy(estimate, submission.settings.energy_method)
    if text is not None:
        _print_wrapped(text, console)


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
        text = f"{mark} {flag.name}: {flag.message}"
        _print_wrapped(text, console, style=style, first=_INDENT, rest=2 * _INDENT)
        _print_wrapped(flag.remedy, console, first=2 * _INDENT, rest=2 * _INDENT)


def _print_wrapped(
    text: str, console: Console, *, style: str = "", first: str = "", rest: str = ""
) -> None:
    """A paragraph without the blanks that rich leaves at the ends of lines; nothing for no text."""
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


Measured = tuple[Submission, Summary]


def compared(measured: Mapping[str, Measured], failed: Mapping[str, str]) -> Iterator[str]:
    """Each engine's baseline over the first one's, and the speedup of every arm on it.

    Those in `failed` have a reason instead of a result.
    """
    first_name, (first, _) = next(iter(measured.items()))
    yield "Engines compared:"
    for name, (submission, summary) in measured.items():
        build = identify(submission).engine_build
        yield f"  {name}: {build}, {submission.engine.backend_label}"
        if name != first_name:
            yield f"    {_baselines(first_name, first, submission)}"
        for arm in (arm for arm in submission.arms if arm.role == "speculation"):
            estimates = [each for each in summary.estimates if each.arm == arm.id]
            for estimate in _headline(estimates):
                yield f"    {arm.id}{_of_task(estimate)}: {_engine_speedup(estimate)}"
    for name, cause in failed.items():
        yield f"  {name}: not measured"
        yield f"    {cause}"


def _baselines(first_name: str, first: Submission, other: Submission) -> str:
    found = baseline_ratio(first, other)
    if found is None:
        return f"baseline: no prompt and block in common with {first_name}"
    over = say.count(found.prompts, "prompt")
    if not found.interval and (single_pass(first) or single_pass(other)):
        over = f"{over} in a single pass, so its uncertainty is unknown"
    ratio = say.speedup(found.ratio, *words.bounds(found.interval))
    return f"baseline: {ratio} the speed of {first_name}, over {over}"


def _headline(estimates: Sequence[Estimate]) -> Sequence[Estimate]:
    """The estimate over all tasks, or those of the tasks where not all of them were measured."""
    if not estimates:
        return ()
    whole = words.overall(estimates)
    tasks = [each for each in estimates if each.task is not None and each.speedup is not None]
    return (whole,) if whole.speedup is not None or not tasks else tasks


def _of_task(estimate: Estimate) -> str:
    return f", {estimate.scope}" if estimate.task or estimate.own_tasks else ""


def _engine_speedup(estimate: Estimate) -> str:
    verdict = VERDICTS[estimate.verdict].label
    if estimate.speedup is None:
        return verdict
    return f"{words.speedup(estimate)} the speed of its own baseline ({verdict})"
