"""How many blocks of a campaign fit into one result file? Estimated before anything is measured.

A trial was 420 bytes for a baseline and 567 at most for a depth of 8 (288 trials per file, ids of 8
to 16 and of 13 to 26 characters); the histograms and medians grow with the depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.strict import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.model import ArmPlan

MOST_TRIALS = 4096  # the format's bound of $.trials
_BESIDE_TRIALS_BYTES = 24 * 1024  # machine, suite, snapshots, probes: 6 KB in the files above
_TRIAL_BYTES = 440  # without ids and histograms
_BYTES_PER_DEPTH = 16


def most_blocks(arms: Sequence[ArmPlan], prompts: Sequence[str], output_tokens: int) -> int:
    """Blocks that fit, 0 when not even one does. `prompts` are the ids of the suite's prompts."""
    block_bytes = sum(
        trial_bytes(arm.id, getattr(arm.method, "n_max", None) or 0, prompt, output_tokens)
        for arm in arms
        for prompt in prompts
    )
    trials = len(arms) * len(prompts)
    return min(MOST_TRIALS // trials, (MAX_BYTES - _BESIDE_TRIALS_BYTES) // block_bytes)


def trial_bytes(arm: str, depth: int, prompt: str, output_tokens: int) -> int:
    """Bytes that one trial takes at most, nearly always."""
    return _TRIAL_BYTES + len(arm) + len(prompt) + _BYTES_PER_DEPTH * min(depth, output_tokens)
