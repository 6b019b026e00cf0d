"""`draftmap run`: measure, write the result file, print the verdict."""

from harness.campaign.duration import expected, memory_bandwidth
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.campaign.plan import plan
from harness.cli import console
from harness.cli.engines import ChosenEngine, EngineOptions, named_engines
from harness.cli.options import offers_fields
from harness.cli.request import Contribution, ResultOptions, RunRequest
from harness.cli.session import measure
from harness.report.plan import lines as plan_lines
from harness.runners.options import ConnectionOptions
from schemas.codec import Json, encode


@console.reports_errors
@offers_fields
def run(
    options: Options,
    engine: EngineOptions,
    connection: ConnectionOptions,
    result: ResultOptions,
    contribution: Contribution,
) -> None:
    """Without any option it measures a small embedded model with two ways of drafting.

    - `python -m harness run --quick` for a first look

    - `python -m harness run --target qwen3-8b` for a model of the hub with the draft that fits

    - `python -m harness run --target big.gguf --draft small.gguf --method draft-model:n_max=3`
    """
    chosen = ChosenEngine(name=engine.runner, connection=connection)
    request = RunRequest(
        options=options,
        engines=named_engines(chosen, engine.server_binaries),
        contribution=contribution,
        result=result,
    )
    if result.dry_run:
        print_plan(request)
    else:
        measure(request)


def print_plan(request: RunRequest) -> None:
    """Print what would run, and for how long. It fetches nothing, and refuses what a run would."""
    request.check()
    campaigns = request.campaigns(fetch=False)
    campaign = next(iter(campaigns.values()))
    commands = {each.name: each.engine.commands(campaigns[each.name]) for each in request.engines}
    if request.result.json:
        listed: Json = {name: list(lines) for name, lines in commands.items() if lines}
        console.print_json({**_plan(campaign), "commands": listed})
        return
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    screen = console.result_console()
    for line in plan_lines(campaign, estimate):
        screen.print(line)
    for name, lines in commands.items():
        if lines:
            screen.print(f"{name or 'starts'}", style="dim")
        for line in lines:
            # Unwrapped, so that it can be copied.
            screen.print(f"  {line}", soft_wrap=True, markup=False)


def _plan(campaign: Campaign) -> dict[str, Json]:
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    return {
        "profile": campaign.profile,
        "target": encode(campaign.target.model),
        "drafts": [encode(draft.model) for draft in campaign.drafts],
        "arms": [encode(arm) for arm in campaign.arms],
        "suite": campaign.suite.id,
        "prompts": [prompt.id for prompt in campaign.suite.prompts],
        "settings": encode(campaign.settings),
        "blocks": campaign.blocks,
        "least_blocks": campaign.least_blocks,
        "stopping": encode(campaign.stopping),
        "expected_s": round(estimate.seconds, 1) if estimate else None,
        "expected_least_s": round(estimate.least_seconds, 1) if estimate else None,
        "expected_from": estimate.basis if estimate else None,
        "trials": [encode(trial) for trial in plan(campaign)],
    }
