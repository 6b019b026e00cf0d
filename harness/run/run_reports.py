"""Print the results or the plan of a run, for people or as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from rich.console import Console

from estimates.identity import identify
from estimates.model import Estimate, Summary
from estimates.ratios import baseline_ratio
from estimates.repeatability import single_pass
from harness import console, features
from harness.errors import HarnessError
from harness.report import brief, progress, words
from harness.run import next_step
from harness.run.engine_run import MeasuredEngine
from harness.run.request import ResultOptions, RunRequest
from harness.run.time_limit import JointEnd
from schemas.codec import Json, encode
from schemas.submission import Submission
from schemas.vocabulary import VERDICTS, say


def print_results(
    measured: Mapping[str, MeasuredEngine], errors: Mapping[str, HarnessError], asked: ResultOptions
) -> None:
    """Print the results for people, or as JSON: one summary, or a summary for each engine."""
    if asked.json:
        summaries: dict[str, dict[str, Json]] = {
            name: {"result": str(run.path), **cast("dict[str, Json]", encode(run.summary))}
            for name, run in measured.items()
        }
        console.print_json(summaries.get("", {"engines": cast("Json", summaries)}))
    else:
        screen = console.result_console()
        for name, run in measured.items():
            if name:
                screen.rule(name, align="left")
            brief.show(
                run.submission, run.summary, screen, path=run.path, local_files=run.local_files
            )
            print_memory(run.memory, screen)
        if len(measured) + len(errors) > 1 and measured:
            screen.rule()
            engines = {name: (run.submission, run.summary) for name, run in measured.items()}
            failed = {name: str(error) for name, error in errors.items()}
            console.print_lines(compared(engines, failed))
    for run in measured.values():
        console.say(f"Result: {run.path}")


def compared(
    measured: Mapping[str, tuple[Submission, Summary]], failed: Mapping[str, str]
) -> Iterator[str]:
    """Yield lines: each engine's speedups, its baseline relative to the first's, then failures."""
    first_name, (first, _) = next(iter(measured.items()))
    yield "Engines compared:"
    for name, (submission, summary) in measured.items():
        build = identify(submission).engine_build
        yield f"  {name}: {build}, {submission.engine.backend_label}"
        if name != first_name:
            yield f"    {_baselines(first_name, first, submission)}"
        for arm in (arm for arm in submission.arms if arm.role == "speculation"):
            estimates = [estimate for estimate in summary.estimates if estimate.arm == arm.id]
            for estimate in _headline(estimates):
                task = f", {estimate.scope}" if estimate.task or estimate.own_tasks else ""
                yield f"    {arm.id}{task}: {_engine_speedup(estimate)}"
    for name, cause in failed.items():
        yield f"  {name}: not measured"
        yield f"    {cause}"


def _baselines(first_name: str, first: Submission, other: Submission) -> str:
    found = baseline_ratio(first, other)
    if found is None:
        return f"baseline: not comparable, because it shares no prompt and block with {first_name}"
    ratio, interval, prompts = found
    over = say.count(prompts, "prompt")
    if not interval and (single_pass(first) or single_pass(other)):
        over = f"{over} in a single pass, so its uncertainty is unknown"
    return f"baseline: {words.speedup(ratio, interval)} the speed of {first_name}, over {over}"


def _headline(estimates: Sequence[Estimate]) -> Sequence[Estimate]:
    """Return the estimate over all tasks, or the single tasks' estimates if there is none."""
    if not estimates:
        return ()
    whole = words.overall(estimates)
    tasks = [each for each in estimates if each.task is not None and each.speedup is not None]
    return (whole,) if whole.speedup is not None or not tasks else tasks


def _engine_speedup(estimate: Estimate) -> str:
    verdict = VERDICTS[estimate.verdict].label
    if estimate.speedup is None:
        return verdict
    found = words.speedup(estimate.speedup, estimate.interval, at_most=estimate.at_most)
    text = f"{found} the speed of its own baseline ({words.rates(estimate)} tokens/s"
    if estimate.whole_request is not None:
        text += f"; whole request {say.times(estimate.whole_request)}"
    return f"{text}; {verdict})"


def print_memory(failed: Mapping[str, tuple[str, ...]], screen: Console) -> None:
    for arm, lines in failed.items():
        screen.print()
        screen.print(f"{arm} had too little memory:", markup=False)
        for line in lines:
            screen.print(f"  {line}", soft_wrap=True, markup=False)


def print_plan(request: RunRequest, end: JointEnd | None = None) -> None:
    """Print the plan and its duration without fetching files.

    Raises the errors that a run would raise.
    """
    request.check()
    campaigns = request.campaigns(fetch=False)
    campaign = next(iter(campaigns.values()))
    commands = {engine.name: engine.commands(campaigns[engine.name]) for engine in request.engines}
    end = end or JointEnd(budget_s=campaign.stopping.budget_s)
    estimate = end.expected([*campaigns.values()])
    if request.result.json:
        listed: Json = {name: list(lines) for name, lines in commands.items() if lines}
        console.print_json({**progress.as_json(campaign, estimate), "commands": listed})
        return
    screen = console.result_console()
    answered = features.part("answer").answer_lines(campaign.target.model)
    for line in (*progress.lines(campaign, estimate), *answered):
        screen.print(line, markup=False)
    if look := next_step.first_look(request, estimate):
        console.say(look)
    paths = [model.path for model in (campaign.target, *campaign.drafts) if model.path]
    here = all(path.exists() for path in paths)
    when = "" if here else ", after its models are downloaded"
    for name, lines in commands.items():
        if lines:
            screen.print(f"{name or 'starts'}{when}", style="dim")
        for line in lines:
            # The command is not wrapped, so that it can be copied.
            screen.print(f"  {line}", soft_wrap=True, markup=False)
