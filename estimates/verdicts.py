"""The verdict on an arm: whether it helps, hurts, or cannot be judged."""

import math
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from estimates.decomposition import can_draft, drafted_nothing
from estimates.model import Estimate, Exactness, ExactnessCounts, Flag, Interval, Verdict
from schemas.submission import Arm, Trial
from schemas.vocabulary import CLEAR_OF_ONE, FEWEST_PROMPTS, HELPS_ABOVE, HURTS_BELOW, METHODS

# A step over several tokens adds up in another order than single steps do. Tried with
# SmolLM2-135M in F16 on a CPU, widths 2 and 5 against 1, 1580 tokens: the top-2 margin moved by
# 0.003 in the median and by 0.023 at most. Four times that leaves room for other kernels, and
# only one token in 25 has so small a margin: an error at a random place would rarely hide here.
NEAR_TIE_LOGITS = 0.1

_WORST_FIRST: tuple[Exactness, ...] = ("diverged", "diverged-near-tie", "identical")


def classify(trial: Trial, baseline: Trial | None = None) -> Exactness:
    """One output against the baseline's. A difference without a margin counts as diverged.

    Where no tokens were compared, as in imported files, equal digests are equal outputs.
    """
    if trial.outcome != "ok":
        return "not-compared"
    if not trial.compared_tokens:
        return _by_digest(trial, baseline)
    if trial.first_divergence is None:
        return "identical"
    margin = trial.divergence_margin
    near = margin is not None and margin < NEAR_TIE_LOGITS
    return "diverged-near-tie" if near else "diverged"


def worst(trials: Sequence[Trial], baseline: Sequence[Trial]) -> Exactness:
    """The worst class over the blocks; blocks that were not compared do not count."""
    seen = {classify(own, base) for own, base in zip(trials, baseline, strict=True)}
    return next((each for each in _WORST_FIRST if each in seen), "not-compared")


def _by_digest(trial: Trial, baseline: Trial | None) -> Exactness:
    if baseline is None or trial.output_sha256 is None or baseline.output_sha256 is None:
        return "not-compared"
    return "identical" if trial.output_sha256 == baseline.output_sha256 else "diverged"


def count(classes: Iterable[Exactness]) -> ExactnessCounts:
    """Prompts per class."""
    counts = Counter(classes)
    return ExactnessCounts(
        identical=counts["identical"],
        diverged_near_tie=counts["diverged-near-tie"],
        diverged=counts["diverged"],
        not_compared=counts["not-compared"],
    )


def judge(interval: Interval | None) -> Verdict:
    """The verdict of a file's interval alone; without one there were too few prompts."""
    if interval is None:
        return "too-few-prompts"
    clear = math.exp(CLEAR_OF_ONE * interval.log_half_width)
    if interval.low > max(HELPS_ABOVE, clear):
        return "helps"
    if interval.high < min(HURTS_BELOW, 1 / clear):
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


# The doubt about an arm whose acceptance was set: it shows what a round costs, not a speedup.
INSTRUMENT = "instrument"
JUDGED: tuple[Verdict, ...] = ("helps", "hurts", "no-clear-difference")


def after_flags(
    estimates: Sequence[Estimate], flags: Sequence[Flag], arms: Sequence[Arm]
) -> tuple[Estimate, ...]:
    """The estimates, `uncertain` if flags or few data allow no verdict: see `Estimate.doubt`."""
    controls = {
        arm.id for arm in arms if arm.role == "control" and not METHODS[arm.method.type].instrument
    }
    serious = [flag for flag in flags if flag.severity == "serious"]
    return tuple(_after_flag(each, _serious(each, serious, controls)) for each in estimates)


def _after_flag(estimate: Estimate, flag: str | None) -> Estimate:
    """The estimate under a serious flag, if any; without a verdict it keeps its first reason."""
    if estimate.doubt == INSTRUMENT:
        return estimate
    if estimate.verdict not in JUDGED:
        return replace(estimate, doubt=flag or estimate.doubt)
    few = "few-prompts" if estimate.prompts < FEWEST_PROMPTS else None
    doubt = flag or few or ("single-pass" if estimate.interval is None else None)
    return estimate if doubt is None else replace(estimate, verdict="uncertain", doubt=doubt)


def _serious(estimate: Estimate, serious: Sequence[Flag], controls: Container[str]) -> str | None:
    """The first flag that concerns it: one of a control, or without an arm, concerns all arms."""
    concerned = (None, estimate.arm, estimate.baseline)
    names = (f.name for f in serious if f.arm in concerned or f.arm in controls)
    return next(names, None)


def _all_failed(trials: Sequence[Trial]) -> bool:
    """Whether something ran and nothing of it finished; what never ran did not fail."""
    return bool(trials) and all(trial.outcome == "failed" for trial in trials)
