"""What would a run do? The plan, how long it takes, and the command lines it would start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.cli import talk
from harness.duration import expected, memory_bandwidth
from harness.plan import plan
from harness.report.plan import lines as plan_lines
from schemas.codec import encode

if TYPE_CHECKING:
    from harness.cli.wanted import Wanted
    from harness.model import Campaign
    from schemas.codec import Json


def dry_run(wanted: Wanted) -> None:
    """Print what would run, and for how long. It fetches nothing, and refuses what a run would."""
    wanted.check()
    campaigns = wanted.campaigns(fetch=False)
    campaign = next(iter(campaigns.values()))
    commands = {leg.name: leg.engine.commands(campaigns[leg.name]) for leg in wanted.legs}
    if wanted.as_json:
        talk.print_json({**_plan(campaign), "commands": _told(commands)})
    else:
        _print_plan(campaign, commands)


def _told(commands: dict[str, tuple[str, ...]]) -> Json:
    return {name: list(lines) for name, lines in commands.items() if lines}


def _print_plan(campaign: Campaign, commands: dict[str, tuple[str, ...]]) -> None:
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    console = talk.result_console()
    for line in plan_lines(campaign, estimate):
        console.print(line)
    for name, lines in commands.items():
        if lines:
            console.print(f"{name or 'starts'}", style="dim")
        for line in lines:
            # Unwrapped, so that it can be copied.
            console.print(f"  {line}", soft_wrap=True, markup=False)


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
