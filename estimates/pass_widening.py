"""Widen the intervals of campaigns that interleave arms by whole passes, not prompt by prompt."""

from estimates import repeatability
from estimates.model import Interval
from estimates.pairing import pair
from schemas.submission import Arm, Submission

_LEAST_PASSES = 2


def by_passes(submission: Submission) -> bool:
    """Whether the arms were interleaved by whole passes instead of prompt by prompt."""
    return submission.design.interleaved == "block"


def single_pass(submission: Submission) -> bool:
    """Whether each arm had only one pass, so that no interval can be computed."""
    return by_passes(submission) and repeatability.blocks_run(submission) < _LEAST_PASSES


def widened(interval: Interval | None, submission: Submission, arm: Arm) -> Interval | None:
    """Widen an interval by the disturbances that affect a whole pass of the arm or its baseline.

    It is unchanged if the arms were interleaved prompt by prompt; it becomes `None` with fewer than
    two passes.
    """
    if interval is None or not by_passes(submission):
        return interval
    # The error is over all prompts of the arm, because a disturbance affects a whole pass.
    ratios = repeatability.block_ratios(repeatability.by_task(pair(submission, arm)))
    over_blocks = repeatability.log_half_width(
        ratios, repeatability.confidence(submission), least=_LEAST_PASSES
    )
    return None if over_blocks is None else interval.wider(over_blocks)
