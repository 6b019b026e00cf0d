"""Is the campaign whole, and was it designed so that drift cannot pass for a speedup?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from estimates.model import Flag
from estimates.trials import is_timed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from estimates.flags.evidence import Evidence


def failed_arm(evidence: Evidence) -> Iterator[Flag]:
    """An arm could not run at all."""
    for arm in evidence.submission.arms:
        if arm.outcome == "failed":
            yield Flag(
                name="failed-arm",
                message=f"This arm did not run: {_words(arm.reason)}.",
                remedy="The failure is a result too; `harness doctor` shows what can be changed.",
                arm=arm.id,
            )


def failed_trials(evidence: Evidence) -> Iterator[Flag]:
    """Some generations of an arm failed."""
    for arm in evidence.submission.arms:
        own = [trial for trial in evidence.submission.trials if trial.arm == arm.id]
        failed = [trial for trial in own if trial.outcome == "failed"]
        if failed:
            reason, _ = Counter(trial.reason for trial in failed).most_common(1)[0]
            yield Flag(
                name="failed-trials",
                message=f"{len(failed)} of {len(own)} trials failed, mostly: {_words(reason)}.",
                remedy="Only prompts that finished are compared; resolve the cause and repeat.",
                arm=arm.id,
                prompt=failed[0].prompt,
            )


def unpaired_trials(evidence: Evidence) -> Iterator[Flag]:
    """Finished trials have no partner in the baseline and were counted out."""
    for arm in evidence.submission.arms:
        if arm.role == "baseline":
            continue
        timed = sum(1 for t in evidence.submission.trials if t.arm == arm.id and is_timed(t))
        used = sum(len(pairs.trials) for pairs in evidence.pairs if pairs.arm.id == arm.id)
        if used < timed:
            yield Flag(
                name="unpaired-trials",
                message=f"{timed - used} trials have no finished baseline trial in their block.",
                remedy="Resume the campaign (harness run --resume) to complete the blocks.",
                arm=arm.id,
            )


def interrupted(evidence: Evidence) -> Iterator[Flag]:
    """The campaign was stopped before its plan was done."""
    design = evidence.submission.design
    if design.ended == "interrupted":
        done = len(evidence.submission.trials)
        yield Flag(
            name="interrupted",
            message=f"Stopped after {done} of {design.planned_trials} planned trials.",
            remedy="Continue it with harness run --resume.",
        )


def budget_spent(evidence: Evidence) -> Iterator[Flag]:
    """The time budget ended the campaign before its interval was narrow enough."""
    if evidence.submission.design.ended == "budget-spent":
        yield Flag(
            name="budget-spent",
            message="The time budget was spent before the interval was as narrow as wanted.",
            remedy="Give it more time (--budget).",
        )


def resumed(evidence: Evidence) -> Iterator[Flag]:
    """The campaign is put together from several runs."""
    times = evidence.submission.design.resumed or 0
    if times:
        yield Flag(
            name="resumed",
            message=f"The campaign was interrupted and resumed {times} times.",
            remedy="Compare the blocks before and after; a run in one piece avoids the doubt.",
        )


def quick(evidence: Evidence) -> Iterator[Flag]:
    """A quick campaign: fewer prompts and shorter outputs."""
    if evidence.submission.profile == "quick":
        yield Flag(
            name="quick",
            message="A quick campaign: few prompts and short outputs, so the intervals are wide.",
            remedy="Run it without --quick for a result to build on.",
        )


def single_block(evidence: Evidence) -> Iterator[Flag]:
    """Nothing was repeated, so that noise between blocks cannot be seen."""
    if max((trial.block for trial in evidence.submission.trials), default=0) == 0:
        yield Flag(
            name="single-block",
            message="Every trial ran once; noise between blocks cannot be seen.",
            remedy="Measure at least three blocks (--blocks 3).",
        )


def not_interleaved(evidence: Evidence) -> Iterator[Flag]:
    """Arms ran one after another, or in an unknown order: drift can pass for a speedup."""
    order = evidence.submission.design.order
    if order in ("sequential", "unknown"):
        told = "one after another" if order == "sequential" else "in an unknown order"
        yield Flag(
            name="not-interleaved",
            message=f"The arms ran {told}, so a drifting machine can look like a speedup.",
            remedy="Measure with interleaved blocks (the harness does so by default).",
        )


def _words(reason: str | None) -> str:
    return (reason or "other").replace("-", " ")
