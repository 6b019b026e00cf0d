"""What can be said of one submission in few words? Where it ran, what was compared, what came out.

Values only: whoever shows them (a terminal, a comment) needs no numerics. `estimates.understand`
fills them in.
"""

from __future__ import annotations

from dataclasses import dataclass

from estimates.model import Verdict  # noqa: TC001 - as below
from schemas.submission import Task  # noqa: TC001 - the codec reads the annotations while it runs


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSaid:
    """What an arm says on one task; `task` is `None` over all tasks."""

    verdict: Verdict
    prompts: int
    task: Task | None = None
    speedup: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    baseline_tps: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSaid:
    """One arm that was compared with a baseline; over all tasks first."""

    arm: str
    role: str
    method: str
    said: tuple[TaskSaid, ...]
    draft: str | None = None
    depth: int | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagSaid:
    """A flag with the way to mend what it is about."""

    name: str
    severity: str
    message: str
    remedy: str
    arm: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """One submission in words and figures."""

    device: str
    backend: str
    engine: str
    target: str
    size_class: str
    tier: str
    profile: str
    measured_on: str
    suite: str
    prompts: int
    blocks: int
    trials: int
    failed_trials: int
    arms: tuple[ArmSaid, ...]
    flags: tuple[FlagSaid, ...]
    contributor: str | None = None
    supersedes: str | None = None


def overall(arm: ArmSaid) -> TaskSaid | None:
    """What an arm says over all tasks, or on its only one."""
    whole = next((said for said in arm.said if said.task is None), None)
    if whole is not None and whole.speedup is not None:
        return whole
    tasks = [said for said in arm.said if said.task is not None]
    return tasks[0] if len(tasks) == 1 else whole
