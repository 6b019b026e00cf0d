"""Print the results or the plan of a run, for people or as JSON."""

from typing import cast

from harness import console
from harness.report import brief, progress
from harness.run import next_step
from harness.run.engine_run import MeasuredEngine
from harness.run.request import ResultOptions, RunRequest
from harness.run.time_limit import JointEnd
from schemas.codec import Json, encode


def print_result(run: MeasuredEngine, asked: ResultOptions) -> None:
    """Print the result for people, or its summary as JSON."""
    if asked.json:
        summary = cast("dict[str, Json]", encode(run.summary))
        console.print_json({"result": str(run.path), **summary})
    else:
        screen = console.result_console()
        brief.show(run.submission, run.summary, screen, path=run.path, local_files=run.local_files)
    console.say(f"Result: {run.path}")


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
    for line in progress.lines(campaign, estimate):
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
