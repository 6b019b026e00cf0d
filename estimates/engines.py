"""How do two engines compare on the same target? Baseline against baseline, paired as arms are.

For submissions of one machine, measured with the same prompts and blocks in turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from estimates.intervals import t_interval
from estimates.pairing import pair
from estimates.passes import widened
from schemas.submission import Arm, NoSpeculation

if TYPE_CHECKING:
    from estimates.model import Interval
    from schemas.submission import Submission, Trial

_OTHER = "other-engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRatio:
    """How many times as fast one engine's plain decoding is as another's, over `prompts` prompts.

    The interval is Student's t over prompts, widened by what disturbs whole passes; `None` with a
    single prompt or a single pass.
    """

    ratio: float
    interval: Interval | None
    prompts: int


def baseline_ratio(first: Submission, other: Submission) -> EngineRatio | None:
    """The speed of `other` over that of `first`; `None` without a prompt and block of both."""
    ours, theirs = _baseline(first), _baseline(other)
    if ours is None or theirs is None:
        return None
    rival = Arm(id=_OTHER, role="alternative", method=NoSpeculation(), baseline=ours)
    trials = (*_of(first, ours), *(replace(each, arm=_OTHER) for each in _of(other, theirs)))
    both = replace(first, trials=trials)
    logs = [each.log_ratio for each in pair(both, rival)]
    if not logs:
        return None
    interval = widened(t_interval(logs), both, rival)
    return EngineRatio(ratio=math.exp(fmean(logs)), interval=interval, prompts=len(logs))


def _baseline(submission: Submission) -> str | None:
    """The baseline of one request at a time, which every campaign has first."""
    return next((arm.id for arm in submission.arms if arm.role == "baseline"), None)


def _of(submission: Submission, arm: str) -> tuple[Trial, ...]:
    return tuple(trial for trial in submission.trials if trial.arm == arm)
