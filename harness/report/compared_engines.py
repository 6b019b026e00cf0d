"""Compare the engines of one command: their baselines, and the speedups on each engine."""

from collections.abc import Iterator, Mapping, Sequence

from estimates.identity import identify
from estimates.model import Estimate, Summary
from estimates.ratios import baseline_ratio
from estimates.repeatability import single_pass
from harness.report import words
from schemas.submission import Submission
from schemas.vocabulary import VERDICTS, say


def compared(
    measured: Mapping[str, tuple[Submission, Summary]], failed: Mapping[str, str]
) -> Iterator[str]:
    """Yield lines: each engine's speedups, its baseline relative to the first's, then failures."""
    first_name, (first, _) = next(iter(measured.items()))
    yield "Engines compared:"
    for name, (submission, summary) in measured.items():
        build = identify(submission).engine_build
        yield f"  {name}: {build}, {submission.engine.backend_label}"
        if name != first_name:
            yield f"    {_baselines(first_name, first, submission)}"
        for arm in (arm for arm in submission.arms if arm.role == "speculation"):
            estimates = [estimate for estimate in summary.estimates if estimate.arm == arm.id]
            for estimate in _headline(estimates):
                task = f", {estimate.scope}" if estimate.task or estimate.own_tasks else ""
                yield f"    {arm.id}{task}: {_engine_speedup(estimate)}"
    for name, cause in failed.items():
        yield f"  {name}: not measured"
        yield f"    {cause}"


def _baselines(first_name: str, first: Submission, other: Submission) -> str:
    found = baseline_ratio(first, other)
    if found is None:
        return f"baseline: not comparable, because it shares no prompt and block with {first_name}"
    over = say.count(found.prompts, "prompt")
    if not found.interval and (single_pass(first) or single_pass(other)):
        over = f"{over} in a single pass, so its uncertainty is unknown"
    ratio = words.speedup(found.ratio, found.interval)
    return f"baseline: {ratio} the speed of {first_name}, over {over}"


def _headline(estimates: Sequence[Estimate]) -> Sequence[Estimate]:
    """Return the estimate over all tasks, or the single tasks' estimates if there is none."""
    if not estimates:
        return ()
    whole = words.overall(estimates)
    tasks = [each for each in estimates if each.task is not None and each.speedup is not None]
    return (whole,) if whole.speedup is not None or not tasks else tasks


def _engine_speedup(estimate: Estimate) -> str:
    verdict = VERDICTS[estimate.verdict].label
    if estimate.speedup is None:
        return verdict
    found = words.speedup(estimate.speedup, estimate.interval, at_most=estimate.at_most)
    text = f"{found} the speed of its own baseline ({words.rates(estimate)} tokens/s"
    if estimate.whole_request is not None:
        text += f"; whole request {say.times(estimate.whole_request)}"
    return f"{text}; {verdict})"
