"""Formats the plan of a dry run: what would run, and for how long."""

from collections import Counter
from collections.abc import Iterator

from harness.campaign.duration import Expected
from harness.campaign.model import Campaign
from harness.campaign.plan import plan
from harness.report import words
from schemas.codec import Json, encode
from schemas.vocabulary import say


def lines(campaign: Campaign, estimate: Expected | None) -> Iterator[str]:
    """Models, arms, prompts, trials, when it ends, and the expected duration."""
    tasks = Counter(prompt.task for prompt in campaign.suite.prompts)
    yield f"target    {words.model(campaign.target.model)}"
    for draft in campaign.drafts:
        yield f"draft     {words.model(draft.model)}"
    yield f"arms      {', '.join(arm.id for arm in campaign.arms)}"
    yield f"prompts   {', '.join(f'{count} {task}' for task, count in tasks.items())}"
    yield f"profile   {campaign.profile}, suite {campaign.suite.id}"
    yield f"trials    {_trials(campaign)}, up to {campaign.settings.max_output_tokens} tokens each"
    yield from _ends(campaign)
    yield _duration(estimate)


def _duration(estimate: Expected | None) -> str:
    if estimate is None:
        return "expected  unknown: the size of the target's weights is not known"
    shortest, longest = words.seconds(estimate.least_seconds), words.seconds(estimate.seconds)
    duration = longest if shortest == longest else f"{shortest} to {longest}"
    return f"expected  about {duration}; {estimate.basis}"


def _trials(campaign: Campaign) -> str:
    least, most = campaign.least_blocks, campaign.blocks
    prompts, arms = len(campaign.suite.prompts), len(campaign.arms)
    blocks = say.count(most, "block") if least == most else f"{least} to {most} blocks"
    each = prompts * arms
    total = f"{most * each}" if least == most else f"{least * each} to {most * each}"
    counts = f"{say.count(prompts, 'prompt')} x {say.count(arms, 'arm')}"
    return f"{blocks} x {counts} = {total}"


def _ends(campaign: Campaign) -> Iterator[str]:
    rule = campaign.stopping
    if rule.precision is not None:
        yield (
            f"ends      once every speedup is repeatable within \N{PLUS-MINUS SIGN}"
            f"{say.percent(rule.precision, 1)}, or after {say.count(campaign.blocks, 'block')}"
        )
    if rule.budget_s is not None:
        yield f"budget    {words.seconds(rule.budget_s)}; no block is started that would overrun it"


def as_json(campaign: Campaign, estimate: Expected | None) -> dict[str, Json]:
    """The plan for machines, with every trial in its order."""
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
