"""Estimates a campaign's duration from the bytes that must be read for its tokens and prompts.

On an idle CPU the estimate is right to within a factor of 1.5. The first answers give a better one.
"""

from dataclasses import dataclass
from typing import NamedTuple

from harness.campaign.model import ArmPlan, Campaign
from harness.machine.rate import MachineRate
from harness.models.model_file import ModelFile

# Averages of English and code, and the words that a chat template adds.
_CHARACTERS_PER_TOKEN, _TEMPLATE_TOKENS, _WARM_UP_TOKENS = 3.6, 20, 24
_ACCEPTED = 0.6  # assumed share of the drafted tokens
_BATCHED = 0.5  # prefill time as a share of the time for the same tokens one by one
_FIXED_S, _DISK_BYTES_PER_S = 5.0, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Expected seconds: of a run with all blocks, the fewest or one, and of a baseline token."""

    seconds: float
    least_seconds: float
    first_seconds: float
    token_s: float


class _Cost(NamedTuple):
    """Seconds to load a model, to read its weights once, and to compute one more token per step."""

    load_s: float
    read_s: float
    compute_s: float


def expected(campaign: Campaign, rate: MachineRate) -> Expected | None:
    """Estimate a campaign's duration on a machine; `None` if a model's size is unknown."""
    target = _cost(campaign.target, rate)
    if target is None:
        return None
    drafts = {draft.model.id: _cost(draft, rate) for draft in campaign.drafts}
    prompts = [
        campaign.settings.context_depth_tokens
        or len(prompt.text) / _CHARACTERS_PER_TOKEN + _TEMPLATE_TOKENS
        for prompt in campaign.suite.prompts
    ]
    answers = len(prompts) * (campaign.settings.max_output_tokens - 1)
    start_s = block_s = 0.0
    for arm in campaign.arms:
        draft = drafts.get(arm.method.draft or "")
        token_s = _token_s(arm, target, draft)
        block_s += answers * token_s
        start_s += _WARM_UP_TOKENS * token_s
        for model in filter(None, (target, draft)):
            start_s += model.load_s + _BATCHED * sum(prompts) * model.compute_s
    restarted = campaign.interleaved == "block"  # a new engine start for each arm and block
    once_s = _FIXED_S + (0.0 if restarted else start_s)
    block_s += start_s if restarted else 0.0
    # In the worst case every prompt is repeated, which amounts to another block.
    most = campaign.blocks + (campaign.stopping.repeat_beyond is not None)
    return Expected(
        seconds=once_s + block_s * most,
        least_seconds=once_s + block_s * campaign.least_blocks,
        first_seconds=once_s + block_s,
        token_s=target.read_s + target.compute_s,
    )


def _cost(file: ModelFile, rate: MachineRate) -> _Cost | None:
    size = file.model.file_bytes
    if size is None:
        return None
    parameters = file.model.parameters or size / 2
    active = file.model.active_parameters or parameters
    return _Cost(
        load_s=size / _DISK_BYTES_PER_S,
        read_s=size * active / parameters / rate.bytes_per_s,
        compute_s=active / rate.bytes_per_s / rate.threads,
    )


def _token_s(arm: ArmPlan, target: _Cost, draft: _Cost | None) -> float:
    """Return seconds per token: drafting and verification time divided by the tokens per round."""
    depth = (arm.method.n_max or 0) if draft else 0
    drafting_s = depth * (draft.read_s + draft.compute_s) if draft else 0.0
    round_s = drafting_s + target.read_s + (depth + 1) * target.compute_s
    return round_s / sum(_ACCEPTED**position for position in range(depth + 1))
