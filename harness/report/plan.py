"""What would run, and for how long? The lines of a dry run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.campaign.duration import Expected
from harness.campaign.model import Campaign
from harness.report import words
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
        return "expected  unknown: nobody says how large the target's weights are"
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
        yield f"budget    {words.seconds(rule.budget_s)}; no block begins that would end later"
