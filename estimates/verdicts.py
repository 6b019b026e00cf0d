"""The verdict on an arm: whether it helps, hurts, or cannot be judged."""

from collections.abc import Sequence

from estimates.decomposition import can_draft, drafted_nothing
from estimates.model import Interval, Verdict
from schemas.submission import Arm, Trial
from schemas.vocabulary import HELPS_ABOVE, HURTS_BELOW


def judge(interval: Interval | None) -> Verdict:
    """The verdict of an interval alone; without one there were too few prompts."""
    if interval is None:
        return "too-few-prompts"
    if interval.low > HELPS_ABOVE:
        return "helps"
    if interval.high < HURTS_BELOW:
        return "hurts"
    return "no-clear-difference"


def verdict(
    arm: Arm,
    trials: Sequence[Trial],
    baseline_trials: Sequence[Trial],
    interval: Interval | None,
    *,
    single_pass: bool = False,
) -> Verdict:
    """The verdict on an arm from all its trials in a task, its baseline's, and the interval.

    Failure comes first: the arm failed, or it or its baseline ran and nothing finished. Then an
    arm that drafted nothing: its ratio does not show what speculation does. After a `single_pass`
    of each arm there is no interval, although enough prompts were compared.
    """
    if arm.outcome == "failed" or _all_failed(trials) or _all_failed(baseline_trials):
        return "failed"
    finished = [trial for trial in trials if trial.outcome == "ok"]
    if arm.role == "speculation" and can_draft(arm.method) and drafted_nothing(finished):
        return "never-drafted"
    if single_pass and interval is None:
        return "no-clear-difference"
    return judge(interval)


def _all_failed(trials: Sequence[Trial]) -> bool:
    """Whether something ran and nothing of it finished; what never ran did not fail."""
    return bool(trials) and all(trial.outcome == "failed" for trial in trials)
