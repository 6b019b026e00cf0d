"""What did the arms say whose true answer is known?"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from estimates.intervals import t_interval
from estimates.model import Control
from estimates.passes import widened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from estimates.pairing import PromptPairs
    from schemas.submission import Submission

_KINDS: dict[str, Literal["baseline-again", "empty-draft"]] = {
    "none": "baseline-again",
    "empty-draft": "empty-draft",
}


def controls(submission: Submission, pairs: Sequence[PromptPairs]) -> Iterator[Control]:
    """The control arms that ran, each as the geometric mean over its prompts with its t interval.

    Every prompt counts the same: what an instrument does wrong does not depend on the task.
    """
    for arm in submission.arms:
        kind = _KINDS.get(arm.method.type)
        log_ratios = [each.log_ratio for each in pairs if each.arm.id == arm.id]
        if arm.role == "control" and kind is not None and log_ratios:
            yield Control(
                arm=arm.id,
                kind=kind,
                prompts=len(log_ratios),
                ratio=math.exp(fmean(log_ratios)),
                interval=widened(t_interval(log_ratios), submission, arm),
            )
