"""Measure how repeatable a campaign's figures are on the same machine with the same prompts.

The interval over prompts predicts other prompts of the same kind. Prompts differ, so more blocks of
the same prompts cannot narrow that interval. The interval here is about exactly the prompts that
were run, and every block narrows it. Each block is one measurement of the whole campaign:

    m_b        = logarithm of the time ratio in block b
    half-width = t(B - 1) * s(m) / sqrt(B)

where B is the number of blocks and s(m) the standard deviation. The error of the steady clock,
which is common to all blocks, is added in quadrature.

Some campaigns check their interval after each block and stop once it is narrow. They stop too often
when blocks happen to agree: with 3 to 6 blocks a plain 95 % interval then covers the truth 92.1 %
of the time at worst (simulated; the problem: Anscombe 1953, J. R. Stat. Soc. B 15, 1-29). For such
campaigns the level is 97.5 %, which covers the truth 95.7 % of the time.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from estimates.distributions import t_quantile
from estimates.intervals import CONFIDENCE, deviation, time_ratio, variance
from estimates.model import Interval, Repeatability
from estimates.pairing import PromptPairs, pair
from schemas.submission import Arm, Submission

LEAST_BLOCKS = 3
CONFIDENCE_WHEN_STOPPED_EARLY = 0.975
# A block that an interruption cut short does not represent the whole campaign.
FULL_BLOCK = 0.9
_LEAST_PASSES = 2


def headline(
    submission: Submission, known: Mapping[str, Sequence[PromptPairs]] | None = None
) -> tuple[Repeatability, ...]:
    """The repeatability of each compared arm that has pairs; `known` has pairs already computed."""
    level, arms = confidence(submission), []
    for arm in (arm for arm in submission.arms if arm.role != "baseline"):
        groups = by_task(known[arm.id] if known else pair(submission, arm))
        if not groups:
            continue
        blocks, half_width = len(block_ratios(groups)), repeatable_within(groups, level)
        arms.append(
            Repeatability(
                arm=arm.id,
                blocks=blocks,
                half_width=None if half_width is None else math.expm1(half_width),
            )
        )
    return tuple(arms)


def deciding(submission: Submission) -> float | None:
    """The largest `Repeatability.half_width` of the arms that speculate; of all arms if none does.

    `None` while any of these arms has fewer than three full blocks.
    """
    roles = {arm.id: arm.role for arm in submission.arms}
    everything = headline(submission)
    chosen = [each for each in everything if roles[each.arm] == "speculation"] or everything
    known = [each.half_width for each in chosen if each.half_width is not None]
    return max(known) if known and len(known) == len(chosen) else None


def blocks_run(submission: Submission) -> int:
    """The number of blocks started, which may be fewer than planned; repeats do not count."""
    started = 1 + max(trial.block for trial in submission.trials)
    return min(started, submission.design.blocks)


def repeatable_within(groups: Sequence[Sequence[PromptPairs]], level: float) -> float | None:
    """The log half-width of the t interval, clock error included; `None` with too few blocks."""
    over_blocks = log_half_width(block_ratios(groups), level)
    clock = max(each.clock_half_width for group in groups for each in group)
    return None if over_blocks is None else math.hypot(over_blocks, clock)


def confidence(submission: Submission) -> float:
    """The confidence level; it is higher if a narrow interval could end the campaign early."""
    adaptive = submission.design.precision is not None
    return CONFIDENCE_WHEN_STOPPED_EARLY if adaptive else CONFIDENCE


def block_ratios(groups: Sequence[Sequence[PromptPairs]]) -> tuple[float, ...]:
    """The logarithm of the time ratio in each full block.

    In a full block, nine tenths of the prompts have a pair, and at least one prompt of every task
    does. A prompt without a pair in the block counts with its medians over blocks, so that a
    failure does not count as noise.
    """
    strata = (
        [
            [p.times_by_block.get(block, (p.baseline_ms, p.arm_ms)) for p in group]
            for group in groups
        ]
        for block in _full_blocks(groups)
    )
    return tuple(math.log(time_ratio(each)) for each in strata)


def _full_blocks(groups: Sequence[Sequence[PromptPairs]]) -> list[int]:
    tables = [[pairs.times_by_block for pairs in group] for group in groups]
    prompts = [table for group in tables for table in group]
    return [
        block
        for block in sorted({block for table in prompts for block in table})
        if sum(block in table for table in prompts) >= FULL_BLOCK * len(prompts)
        and all(any(block in table for table in group) for group in tables)
    ]


def by_task(pairs: Sequence[PromptPairs]) -> list[list[PromptPairs]]:
    """Group pairs by task, leaving out prompts that the arm never finished."""
    finished = [each for each in pairs if each.trials]
    tasks = dict.fromkeys(each.prompt.task for each in finished)
    return [[each for each in finished if each.prompt.task == task] for task in tasks]


def repeat_deviation(submission: Submission, pairs: Sequence[PromptPairs]) -> float:
    """The standard deviation of one block's log ratio around its prompt's log ratio.

    Without repeats, the difference between successive baseline trials is used, because a plain
    token costs about the same on each prompt. 0 if that is unknown or arms were not interleaved.
    """
    variances = [variance(pair.block_log_ratios) for pair in pairs if len(pair.trials) > 1]
    if variances:
        return math.sqrt(fmean(variances))
    if submission.design.order == "sequential":
        return 0.0
    finished = [pair for pair in pairs if pair.trials]
    in_order = sorted(finished, key=lambda pair: pair.baseline_trials[0].order)
    steps = [math.log(b.baseline_ms / a.baseline_ms) ** 2 for a, b in pairwise(in_order)]
    return math.sqrt(fmean(steps)) if steps else 0.0


def log_half_width(
    means: Sequence[float], level: float, *, least: int = LEAST_BLOCKS
) -> float | None:
    """The log half-width of the t interval over block means; `None` with too few blocks."""
    return None if len(means) < least else _factor(len(means), level) * deviation(means)


def by_passes(submission: Submission) -> bool:
    """Whether the arms were interleaved by whole passes instead of prompt by prompt."""
    return submission.design.interleaved == "block"


def single_pass(submission: Submission) -> bool:
    """Whether each arm had only one pass, so that no interval can be computed."""
    return by_passes(submission) and blocks_run(submission) < _LEAST_PASSES


def widened(interval: Interval | None, submission: Submission, arm: Arm) -> Interval | None:
    """Widen an interval by the disturbances that affect a whole pass of the arm or its baseline.

    It is unchanged if the arms were interleaved prompt by prompt; it becomes `None` with fewer than
    two passes.
    """
    if interval is None or not by_passes(submission):
        return interval
    # The error is over all prompts of the arm, because a disturbance affects a whole pass.
    ratios = block_ratios(by_task(pair(submission, arm)))
    over_blocks = log_half_width(ratios, confidence(submission), least=_LEAST_PASSES)
    return None if over_blocks is None else interval.wider(over_blocks)


def _factor(blocks: int, level: float) -> float:
    return t_quantile(blocks - 1, (1 + level) / 2) / math.sqrt(blocks)
