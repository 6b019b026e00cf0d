"""Limits the blocks of a campaign to those that fit into a result file."""

from collections.abc import Sequence

from harness.campaign.model import ArmPlan, PromptSuite
from schemas.strict import MAX_BYTES

MOST_TRIALS = 4096  # the file format's limit for $.trials
_OTHER_BYTES = 24 * 1024  # machine, suite, snapshots, probes: 6 KB in measured files
_TRIAL_BYTES = 440  # without ids and histograms
_BYTES_PER_DEPTH = 16


def most_blocks(arms: Sequence[ArmPlan], suite: PromptSuite, output_tokens: int) -> int:
    """Return the number of blocks that fit into a result file."""
    block_bytes = sum(
        trial_bytes(arm.id, arm.method.n_max or 0, prompt.id, output_tokens)
        for arm in arms
        for prompt in suite.prompts
    )
    trials = len(arms) * len(suite.prompts)
    return min(MOST_TRIALS // trials, (MAX_BYTES - _OTHER_BYTES) // block_bytes)


def trial_bytes(arm: str, depth: int, prompt: str, output_tokens: int) -> int:
    """Return a size in bytes that a trial in a result file almost never exceeds."""
    return _TRIAL_BYTES + len(arm) + len(prompt) + _BYTES_PER_DEPTH * min(depth, output_tokens)
