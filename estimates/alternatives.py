"""How does speculation compare with the other use of its memory?

On a card that is too small for everything, a draft displaces layers of the target. Then the honest
rival of speculation is not the baseline beside a resident draft but the target alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from estimates.pairing import pair
from estimates.scopes import scopes

if TYPE_CHECKING:
    from estimates.scopes import Scope


def against_alternative(scope: Scope) -> Scope | None:
    """The same arm and task, compared with the alternative that shares its baseline.

    `None` if the arm does not speculate, no alternative ran, or a task has no prompt of both. The
    first alternative counts where there are several.
    """
    if scope.arm.role != "speculation":
        return None
    rivals = (
        arm
        for arm in scope.submission.arms
        if arm.role == "alternative" and arm.baseline == scope.arm.baseline and arm.outcome == "ok"
    )
    rival = next(rivals, None)
    if rival is None:
        return None
    arm = replace(scope.arm, baseline=rival.id)
    compared = scopes(scope.submission, arm, pair(scope.submission, arm))
    found = next(each for each in compared if each.task == scope.task)
    return found if found.complete else None
