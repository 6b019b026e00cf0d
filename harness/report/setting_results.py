"""The figures and verdict that each drafting setting would have if it were picked.

The best of several settings is partly luck, so bounds and verdicts allow for the choice among
settings, or among settings and tasks (`estimates.intervals`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from estimates.intervals import corrected_estimate
from estimates.model import Estimate, Summary, Verdict
from estimates.requests import without_draft_reading
from estimates.verdicts import judge
from harness.report import words
from schemas.submission import Arm, Submission
from schemas.vocabulary import HELPS_ABOVE

Answer = Literal["yes", "depends", "long-answers", "unknown", "no", "nothing"]

_RANKS: dict[Answer, int] = {
    "yes": 0,
    "depends": 1,
    "long-answers": 3,
    "unknown": 3,
    "no": 4,
    "nothing": 5,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class SettingFigures:
    """An arm that drafts, with its figures over all tasks and on each task.

    `choices` is the number of settings to pick from, `task_choices` the number of single-task
    figures. `at_most_request` is an upper bound on the speedup of whole requests: the ratio without
    the time in which the draft model reads the prompt.
    """

    arm: Arm
    whole: Estimate
    tasks: tuple[Estimate, ...]
    choices: int
    task_choices: int
    at_most_request: float | None = None

    @property
    def alone(self) -> bool:
        """Whether the server answered one request at a time."""
        return (self.arm.concurrency or 1) == 1

    @property
    def verdict(self) -> Verdict:
        """The verdict over all tasks, corrected for picking the best of several settings."""
        return _picked(self.whole, self.choices)

    @cached_property
    def helped(self) -> tuple[Estimate, ...]:
        """The tasks for which the setting can be recommended."""
        return tuple(each for each in self.tasks if self.verdict_on(each) == "helps")

    @cached_property
    def lost(self) -> tuple[Estimate, ...]:
        """The tasks that take longer with the setting."""
        return tuple(each for each in self.tasks if _loses(each))

    @property
    def answer(self) -> Answer:
        if self.verdict in ("failed", "never-drafted"):
            return "nothing"
        gains, whole = self.verdict == "helps", self.whole
        if (self.helped or gains) and (self.lost or not gains):
            all_helped = whole.speedup is None and self.helped == self.tasks
            return "yes" if all_helped else "depends"
        if gains:
            return "yes"
        if self.verdict == "slower-in-all":
            return "long-answers"
        all_lost = whole.speedup is None and self.tasks and self.lost == self.tasks
        judged = whole.verdict in ("hurts", "no-clear-difference")
        no_gain = judged and whole.interval is not None and whole.interval.high < HELPS_ABOVE
        return "no" if _loses(whole) or all_lost or no_gain else "unknown"

    def verdict_on(self, task: Estimate) -> Verdict:
        """Return the verdict on one task, corrected for picking the best setting and task."""
        return _picked(task, self.task_choices)


def settings(submission: Submission, summary: Summary) -> list[SettingFigures]:
    """Return the arms that draft, the best first; arms that never drafted are not choices."""
    found = []
    drafted = [e for e in summary.estimates if e.speedup and e.verdict != "never-drafted"]
    drafting = [arm for arm in submission.arms if arm.role == "speculation"]
    for arm in drafting:
        alike = {each.id for each in drafting if each.concurrency == arm.concurrency}
        known = [each for each in drafted if each.arm in alike]
        own = [each for each in summary.estimates if each.arm == arm.id]
        if not own:
            continue
        whole = words.overall(own)
        found.append(
            SettingFigures(
                arm=arm,
                whole=whole,
                tasks=tuple(each for each in own if each.task and each.speedup is not None),
                choices=sum(each.task is None for each in known),
                task_choices=sum(each.task is not None for each in known),
                at_most_request=(
                    None if whole.whole_request else without_draft_reading(submission, arm)
                ),
            )
        )
    # Concurrent requests last, then by the rank of the answer (yes first), then the fastest first.
    return sorted(
        found,
        key=lambda each: (
            each.arm.concurrency or 1,
            _RANKS[each.answer],
            -(each.whole.speedup or 0.0),
        ),
    )


def _picked(estimate: Estimate, choices: int) -> Verdict:
    """Return the verdict on an estimate that was picked as the best of `choices`."""
    if estimate.verdict not in ("helps", "slower-in-all") or estimate.speedup is None:
        return estimate.verdict
    return judge(corrected_estimate(estimate, choices), estimate.whole_request_interval)


def _loses(estimate: Estimate) -> bool:
    """Whether decoding takes longer, or whole requests take longer although decoding does not."""
    request = estimate.whole_request_interval
    slower = judge(request) == "hurts" and estimate.verdict == "no-clear-difference"
    return estimate.verdict in ("hurts", "slower-in-all") or slower
