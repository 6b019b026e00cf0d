"""What does an interval over prompts miss where each arm answered a whole block in one pass?

Whatever disturbs one pass moves all of its prompts together, so that the spread between prompts
does not show it; only other blocks do. Such an interval is widened by the t interval over blocks:

    reach = sqrt(reach over prompts ^ 2 + reach over blocks ^ 2)

in logarithms, since the two parts are independent. With a single pass nothing is known about it,
and there is no interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from estimates.model import Interval
from estimates.pairing import pair
from estimates.repeatability import block_means, blocks_run, confidence, log_reach

if TYPE_CHECKING:
    from schemas.submission import Arm, Submission

_LEAST_PASSES = 2


def by_passes(submission: Submission) -> bool:
    """Whether arms took turns after whole passes and not after each prompt."""
    return submission.design.interleaved == "block"


def single_pass(submission: Submission) -> bool:
    """Whether each arm had one pass only, so that no interval can be told."""
    return by_passes(submission) and blocks_run(submission) < _LEAST_PASSES


def widened(interval: Interval | None, submission: Submission, arm: Arm) -> Interval | None:
    """The interval with what disturbs whole passes of the arm or its baseline.

    Unchanged where arms took turns prompt by prompt; `None` where blocks cannot tell.
    """
    if interval is None or not by_passes(submission):
        return interval
    over_blocks = _reach(submission, arm)
    if over_blocks is None:
        return None
    middle = math.log(interval.low * interval.high) / 2
    reach = math.hypot(math.log(interval.high / interval.low) / 2, over_blocks)
    return Interval(low=math.exp(middle - reach), high=math.exp(middle + reach))


def _reach(submission: Submission, arm: Arm) -> float | None:
    """Over all prompts of the arm: a pass is disturbed as a whole, whatever the task."""
    pairs = pair(submission, arm)
    tasks = dict.fromkeys(each.prompt.task for each in pairs)
    groups = [[each for each in pairs if each.prompt.task == task] for task in tasks]
    return log_reach(block_means(groups), confidence(submission), least=_LEAST_PASSES)
