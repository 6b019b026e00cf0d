"""What was understood of a result, as lines? What the comment under a pull request says too."""

from __future__ import annotations

from collections.abc import Iterator

from estimates.understanding import ArmSaid, Understanding, overall
from schemas.vocabulary import VERDICTS, say


def lines(said: Understanding) -> Iterator[str]:
    """Machine, models, arms with their verdicts, and flags with the way to mend them."""
    yield f"machine  {said.device}, {said.backend}"
    yield f"engine   {said.engine}"
    yield f"target   {said.target} ({said.size_class})"
    prompts = say.count(said.prompts, "prompt")
    yield f"campaign {said.profile}, {said.measured_on}, {prompts}, {said.blocks} blocks"
    yield f"credit   {said.contributor or 'nobody (anonymous)'}"
    if said.supersedes:
        yield f"replaces {said.supersedes}"
    for arm in said.arms:
        yield f"{arm.arm}: {_outcome(arm)}"
        yield from (f"  {task.task}: {_figure(arm, task.task)}" for task in arm.said if task.task)
    for flag in said.flags:
        yield f"{flag.severity} {flag.name}: {flag.message} {flag.remedy}"


def _outcome(arm: ArmSaid) -> str:
    if arm.failure is not None:
        return f"failed ({arm.failure})"
    whole = overall(arm)
    return "not compared" if whole is None else _figure(arm, whole.task)


def _figure(arm: ArmSaid, task: str | None) -> str:
    said = next(each for each in arm.said if each.task == task)
    verdict = VERDICTS[said.verdict].word
    if said.speedup is None:
        return verdict
    return f"{verdict}, {say.speedup(said.speedup, said.interval_low, said.interval_high)}"
