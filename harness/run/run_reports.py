"""Print the results or the plan of a run, for people or as JSON."""

from collections.abc import Mapping
from typing import cast

from rich.console import Console

from harness import console, features
from harness.errors import HarnessError
from harness.report import brief, progress
from harness.report.compared_engines import compared
from harness.run.engine_run import MeasuredEngine
from harness.run.request import ResultOptions, RunRequest
from harness.run.time_limit import in_turns
from schemas.codec import Json, encode


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


def print_memory(failed: Mapping[str, tuple[str, ...]], screen: Console) -> None:
    for arm, lines in failed.items():
        screen.print()
        screen.print(f"{arm} had too little memory:", markup=False)
        for line in lines:
            screen.print(f"  {line}", soft_wrap=True, markup=False)


def print_plan(request: RunRequest, most_s: float | None = None) -> None:
    """Print the plan and its duration without fetching files.

    Raises the errors that a run would raise.
    """
    request.check()
    campaigns = request.campaigns(fetch=False)
    campaign = next(iter(campaigns.values()))
    commands = {engine.name: engine.commands(campaigns[engine.name]) for engine in request.engines}
    estimate = in_turns([*campaigns.values()], most_s or campaign.stopping.budget_s)
    if request.result.json:
        listed: Json = {name: list(lines) for name, lines in commands.items() if lines}
        console.print_json({**progress.as_json(campaign, estimate), "commands": listed})
        return
    screen = console.result_console()
    answered = features.part("answer").answer_lines(campaign.target.model)
    for line in (*progress.lines(campaign, estimate), *answered):
        screen.print(line, markup=False)
    paths = [model.path for model in (campaign.target, *campaign.drafts) if model.path]
    here = all(path.exists() for path in paths)
    when = "" if here else ", after its models are downloaded"
    for name, lines in commands.items():
        if lines:
            screen.print(f"{name or 'starts'}{when}", style="dim")
        for line in lines:
            # The command is not wrapped, so that it can be copied.
            screen.print(f"  {line}", soft_wrap=True, markup=False)
