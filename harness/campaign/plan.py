"""Orders the trials of a campaign before the first one runs.

Paired and interleaved: within a block every arm runs every prompt, so that a machine that slows
down slows all arms. In-process the arms take turns after each prompt; where switching arms means
starting a server, each arm makes one pass over all prompts of the block.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from estimates.running_order import running_order
from harness.campaign.model import ArmPlan, Campaign, PlannedTrial
from harness.models.model_file import ModelFile
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


_CHARACTERS_PER_TOKEN = 4
# Prompt tokens are processed in batches, so each costs a fraction of a generated one.
_PROMPT_TOKEN_COST = 0.2
_WARM_UP_TOKENS = 32
# Opening the engine and the probes, not counting reading the files once.
_FIXED_S = 5.0
_READ_BYTES_PER_S = 1e9
_CALIBRATION_BYTES = 64 * 1024 * 1024
_CALIBRATION_REPEATS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The expected duration in seconds, and its basis in one sentence.

    `seconds` is for all planned blocks, `least_seconds` for the fewest that may run.
    """

    seconds: float
    least_seconds: float
    basis: str


def memory_bandwidth(clock: Callable[[], float] = time.perf_counter) -> float:
    """Bytes per second, read and written, that one thread copies: the best of three tries."""
    import numpy as np  # noqa: PLC0415 - slow to import, and only estimates need it

    source = np.zeros(_CALIBRATION_BYTES, dtype=np.uint8)
    destination = np.ones_like(source)
    best_s = float("inf")
    for _ in range(_CALIBRATION_REPEATS):
        began = clock()
        np.copyto(destination, source)
        best_s = min(best_s, clock() - began)
    return 2 * _CALIBRATION_BYTES / best_s


def expected(campaign: Campaign, *, bytes_per_s: float) -> Expected | None:
    """The duration if every token reads all active weights once at this bandwidth.

    Every arm is assumed as fast as the baseline, since its speedup is what the run finds out.
    `None` where only a server knows the size of the weights.
    """
    active_bytes = _active_bytes(campaign.target)
    if active_bytes is None:
        return None
    token_s = active_bytes / bytes_per_s
    trials = len(plan(campaign)) / campaign.blocks
    output_s = trials * campaign.settings.max_output_tokens * token_s
    prompt_tokens = sum(len(p.text) for p in campaign.suite.prompts) / _CHARACTERS_PER_TOKEN
    prompt_s = prompt_tokens * _PROMPT_TOKEN_COST * token_s
    warm_up_s = len(campaign.arms) * _WARM_UP_TOKENS * token_s
    files = (campaign.target, *campaign.drafts)
    load_s = sum(file.model.file_bytes or 0 for file in files) / _READ_BYTES_PER_S
    block_s = output_s + prompt_s
    if campaign.interleaved == "block":  # each arm is restarted and reads every prompt itself
        block_s = output_s + len(campaign.arms) * (prompt_s + load_s) + warm_up_s
    once_s = warm_up_s + load_s + _FIXED_S
    longest_s = once_s + block_s * campaign.blocks
    budget_s = campaign.stopping.budget_s
    if budget_s is not None:
        longest_s = min(longest_s, max(once_s + block_s, budget_s))
    return Expected(
        seconds=longest_s,
        least_seconds=min(longest_s, once_s + block_s * campaign.least_blocks),
        basis=(
            f"a rough estimate: {active_bytes / 1e6:.0f} MB of weights per token "
            f"at {bytes_per_s / 1e9:.1f} GB/s, the main memory's bandwidth as just measured "
            "with one thread; on a GPU it is faster"
        ),
    )


def _active_bytes(file: ModelFile) -> float | None:
    model = file.model
    here = file.path.stat().st_size if file.path and file.path.is_file() else None
    size = model.file_bytes or here
    if size is None:
        return None
    if model.active_parameters and model.parameters:
        return size * model.active_parameters / model.parameters
    return size
