"""How did several engines do on the same machine? One line each, after their own reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from estimates.model import Estimate, Summary
from estimates.ratios import baseline_ratio
from estimates.repeatability import single_pass
from harness.report import words
from harness.report.terminal import overall
from schemas.submission import Submission
from schemas.vocabulary import VERDICTS, say

Measured = tuple[Submission, Summary]


def lines(measured: Mapping[str, Measured], failed: Mapping[str, str]) -> Iterator[str]:
    """Each engine's baseline over the first one's, and the speedup of every arm on it.

    Those in `failed` have no result but a reason.
    """
    first_name, (first, _) = next(iter(measured.items()))
    yield "Engines compared:"
    for name, (submission, summary) in measured.items():
        engine = submission.engine
        yield f"  {name}: {engine.name} {engine.version or say.UNKNOWN}, {engine.backend}"
        if name != first_name:
            yield f"    {_baselines(first_name, first, submission)}"
        for arm in (arm for arm in submission.arms if arm.role == "speculation"):
            estimates = [each for each in summary.estimates if each.arm == arm.id]
            for estimate in _telling(estimates):
                yield f"    {arm.id}{_task(estimate)}: {_said(estimate)}"
    for name, cause in failed.items():
        yield f"  {name}: not measured"
        yield f"    {cause}"


def _baselines(first_name: str, first: Submission, other: Submission) -> str:
    found = baseline_ratio(first, other)
    if found is None:
        return f"baseline: no prompt and block of both it and {first_name}"
    over = say.count(found.prompts, "prompt")
    if not found.interval and (single_pass(first) or single_pass(other)):
        over = f"{over} in a single pass, so how certain that is cannot be told"
    ratio = say.speedup(found.ratio, *words.bounds(found.interval))
    return f"baseline: {ratio} the speed of {first_name}, over {over}"


def _telling(estimates: Sequence[Estimate]) -> Sequence[Estimate]:
    """The estimate over all tasks, or those of the tasks where not all of them were measured."""
    if not estimates:
        return ()
    whole = overall(estimates)
    tasks = [each for each in estimates if each.task is not None and each.speedup is not None]
    return (whole,) if whole.speedup is not None or not tasks else tasks


def _task(estimate: Estimate) -> str:
    return f", {estimate.task}" if estimate.task else ""


def _said(estimate: Estimate) -> str:
    verdict = VERDICTS[estimate.verdict].word
    if estimate.speedup is None:
        return verdict
    return f"{words.speedup(estimate)} the speed of its own baseline ({verdict})"
