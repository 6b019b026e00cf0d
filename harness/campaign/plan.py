"""Orders the trials of a campaign before the first one runs.

Paired and interleaved: within a block every arm runs every prompt, so that a machine that slows
down slows all arms. In-process the arms take turns after each prompt; where switching arms means
starting a server, each arm makes one pass over all prompts of the block.
"""

from collections.abc import Sequence
from typing import Literal

from estimates.running_order import running_order
from harness.campaign.model import ArmPlan, Campaign, PlannedTrial
from schemas.strict import MAX_BYTES

_ALTERNATING = 2


def plan(campaign: Campaign) -> tuple[PlannedTrial, ...]:
    """The trials of a campaign in running order: blocks, shuffled prompts, balanced arms."""
    trials = running_order(
        [arm.id for arm in campaign.arms if not _alone(arm)],
        [prompt.id for prompt in campaign.suite.prompts],
        blocks=campaign.blocks,
        seed=campaign.seed,
        interleaved=campaign.interleaved,
        alone=[arm.id for arm in campaign.arms if _alone(arm)],
    )
    return tuple(
        PlannedTrial(order=order, block=block, prompt=prompt, arm=arm)
        for order, (block, prompt, arm) in enumerate(trials)
    )


def _alone(arm: ArmPlan) -> bool:
    """Whether the target must be loaded again for the arm: then it does not take turns by prompt.

    Such an arm runs at the end of one block and the start of the next, so that the target moves
    once per block and no arm always goes last.
    """
    return arm.gpu_layers is not None


def order_name(arms: int) -> Literal["sequential", "abba", "latin-square"]:
    """The format's name for the order of this many arms."""
    if arms < _ALTERNATING:
        return "sequential"
    return "abba" if arms == _ALTERNATING else "latin-square"


MOST_TRIALS = 4096  # the format's bound of $.trials
_OTHER_BYTES = 24 * 1024  # machine, suite, snapshots, probes: 6 KB in the files above
_TRIAL_BYTES = 440  # without ids and histograms
_BYTES_PER_DEPTH = 16


def most_blocks(arms: Sequence[ArmPlan], prompts: Sequence[str], output_tokens: int) -> int:
    """Blocks that fit into a result file. `prompts` are the ids of the suite's prompts."""
    block_bytes = sum(
        trial_bytes(arm.id, getattr(arm.method, "n_max", None) or 0, prompt, output_tokens)
        for arm in arms
        for prompt in prompts
    )
    trials = len(arms) * len(prompts)
    return min(MOST_TRIALS // trials, (MAX_BYTES - _OTHER_BYTES) // block_bytes)


def trial_bytes(arm: str, depth: int, prompt: str, output_tokens: int) -> int:
    """Bytes that one trial takes at most, nearly always."""
    return _TRIAL_BYTES + len(arm) + len(prompt) + _BYTES_PER_DEPTH * min(depth, output_tokens)
