"""Decide the verdict on an arm: whether it helps, hurts, or cannot be judged."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

from estimates.decomposition import can_draft, drafted_nothing, fire_rate
from estimates.model import Estimate, Exactness, ExactnessCounts, Flag, Interval, Verdict
from estimates.pairing import PromptPairs
from schemas.submission import Arm, Trial
from schemas.vocabulary import CLEAR_OF_ONE, HELPS_ABOVE, HURTS_BELOW, METHODS

# A step over several tokens adds up in a different order than single steps. Measured with
# SmolLM2-135M in F16 on a CPU, with widths 2 and 5 against 1 over 1580 tokens, the top-2 margin
# moved by 0.003 in the median and by 0.023 at most. Four times that maximum leaves room for other
# kernels. Only one token in 25 has such a small margin, so an error at a random place would rarely
# be hidden.
NEAR_TIE_LOGITS = 0.1

_WORST_FIRST: tuple[Exactness, ...] = ("diverged", "diverged-near-tie", "identical")


def classify(trial: Trial, baseline: Trial | None = None) -> Exactness:
    """Classify an output against the baseline's; a difference of unknown margin is `diverged`.

    The margin is between the baseline's top two logits. Without compared tokens, texts or digests
    decide.
    """
    if trial.outcome != "ok":
        return "not-compared"
    if not trial.compared_tokens:
        return "diverged" if trial.equal_words is not None else _by_digest(trial, baseline)
    if trial.first_divergence is None:
        return "identical"
    margin = trial.divergence_margin
    near = margin is not None and margin < NEAR_TIE_LOGITS
    return "diverged-near-tie" if near else "diverged"


def worst(trials: Sequence[Trial], baseline: Sequence[Trial]) -> Exactness:
    """The worst class over blocks; blocks that were not compared do not count."""
    seen = {classify(own, base) for own, base in zip(trials, baseline, strict=True)}
    return next((each for each in _WORST_FIRST if each in seen), "not-compared")


def _by_digest(trial: Trial, baseline: Trial | None) -> Exactness:
    if baseline is None:
        return "not-compared"
    if trial.output_sha256 is None or baseline.output_sha256 is None:
        return "identical" if trial.text_sha256 and baseline.text_sha256 else "not-compared"
    return "identical" if trial.output_sha256 == baseline.output_sha256 else "diverged"


def count(classes: Iterable[Exactness]) -> ExactnessCounts:
    counts = Counter(classes)
    return ExactnessCounts(**{name.replace("-", "_"): counts[name] for name in get_args(Exactness)})


def judge(interval: Interval | None, request: Interval | None = None) -> Verdict:
    """The verdict that follows from the intervals alone; `too-few-prompts` without an interval.

    `request` is the interval for whole requests. An arm does not help if it is clearly faster per
    token but clearly slower once the time to read the prompt is included.
    """
    direction = _clear(interval)
    if interval is None:
        return "too-few-prompts"
    if direction > 0:
        return "slower-in-all" if _clear(request) < 0 else "helps"
    return "hurts" if direction < 0 else "no-clear-difference"


def _clear(interval: Interval | None) -> int:
    """1 if an interval is clearly above 1, -1 if it is clearly below, else 0."""
    if interval is None:
        return 0
    clear = math.exp(CLEAR_OF_ONE * interval.log_half_width)
    return (interval.low > max(HELPS_ABOVE, clear)) - (interval.high < min(HURTS_BELOW, 1 / clear))


def verdict(
    arm: Arm, trials: Sequence[Trial], baseline_trials: Sequence[Trial], judged: Verdict
) -> Verdict:
    """The verdict on an arm: `judged`, which follows from its intervals, unless it is overridden.

    It is overridden if the arm failed, if the arm or its baseline ran but finished no trial, or if
    the arm drafted nothing, so that its ratio does not show the effect of speculation.
    """
    if arm.outcome == "failed" or _all_failed(trials) or _all_failed(baseline_trials):
        return "failed"
    finished = [trial for trial in trials if trial.outcome == "ok"]
    if arm.role == "speculation" and can_draft(arm.method) and drafted_nothing(finished):
        return "never-drafted"
    return judged


# Reasons for no verdict that are not flags. An instrument is an arm with forced acceptance: it
# shows the cost of a round but has no speedup.
INSTRUMENT = "instrument"
LOSSY = "lossy-verification"
UNCONFIRMED = "unconfirmed"
FEW_PROMPTS = "few-prompts"
SINGLE_PASS = "single-pass"  # noqa: S105 - a word
FAILURES = "failures"
FEW_FIRE = "few-prompts-fire"
ONE_PROMPT = "one-prompt-decides"
SIGNED: tuple[Verdict, ...] = ("helps", "hurts", "slower-in-all")
JUDGED: tuple[Verdict, ...] = (*SIGNED, "no-clear-difference")

# An arm that fails on this share of the prompts that its baseline finishes has no verdict, because
# the other prompts do not represent all prompts. With fewer failures the arm has a verdict, but
# never "helps".
MOST_FAILED = 0.10
# Between arms that ran one after another, clocks, heat and other programs change rates by less.
ORDER, DRIFT = "not-interleaved", 1.5
# A prompt with a smaller share of drafting rounds shows plain decoding.
FIRES = 0.10


def few_decide(pairs: Sequence[PromptPairs]) -> str | None:
    """The reason why a single task can have no verdict; `None` if there is none.

    Either the arm hardly drafts on most of the task's prompts, or the gain or loss on one prompt
    exceeds half of the total. Other prompts of the same kind may then differ by more than the
    interval shows.
    """
    if 2 * sum(map(_fires, pairs)) < len(pairs):
        return FEW_FIRE
    gains = [each.baseline_ms - each.arm_ms for each in pairs]
    return ONE_PROMPT if max(map(abs, gains)) > abs(sum(gains)) / 2 else None


def _fires(pairs: PromptPairs) -> bool:
    """Whether the arm drafts on a prompt in at least the share `FIRES` of its rounds.

    Without counts, a method that drafts at no cost, such as look-up, is assumed to draft on the
    prompts where it gains, and a draft model on all prompts.
    """
    fired = fire_rate(pairs.trials)
    if fired is None:
        return pairs.speedup > 1 or not METHODS[pairs.arm.method.type].free
    return fired >= FIRES


def failed_share(trials: Sequence[Trial], baseline_trials: Sequence[Trial]) -> float:
    """The share of prompts on which the baseline finishes but at least half of the arm's runs fail.

    Prompts that the arm did not reach, for example because it was abandoned, do not count.
    """
    finished = {(each.prompt, each.block) for each in baseline_trials if each.outcome == "ok"}
    tried = [each for each in trials if (each.prompt, each.block) in finished]
    runs = Counter(each.prompt for each in tried)
    failures = Counter(each.prompt for each in tried if each.outcome == "failed")
    return sum(2 * failures[each] >= runs[each] for each in failures) / max(1, len(runs))


def after_flags(
    estimates: Sequence[Estimate], flags: Sequence[Flag], arms: Sequence[Arm]
) -> tuple[Estimate, ...]:
    """The estimates, made `uncertain` where a serious flag or another doubt forbids a verdict.

    The note `unconfirmed` forbids a verdict, too. `Estimate.doubt` has the reason.
    """
    controls = {
        arm.id for arm in arms if arm.role == "control" and not METHODS[arm.method.type].instrument
    }
    # A flag about a control, or a flag without an arm, concerns all arms.
    concerned = {None, *controls}
    serious = [each for each in flags if each.severity == "serious" or each.name == UNCONFIRMED]
    return tuple(
        _after_flag(
            each,
            next((f.name for f in serious if f.arm in {*concerned, each.arm, each.baseline}), None),
        )
        for each in estimates
    )


def beyond_drift(estimate: Estimate) -> bool:
    """Whether arms that ran one after another differ by more than drift could explain."""
    if estimate.doubt != ORDER or estimate.speedup is None:
        return False
    interval = estimate.interval or Interval(low=estimate.speedup, high=estimate.speedup)
    return interval.low > DRIFT or interval.high < 1 / DRIFT


def _after_flag(estimate: Estimate, flag: str | None) -> Estimate:
    """Apply a serious flag, if any, to an estimate; the flag replaces most other doubts."""
    if estimate.doubt == INSTRUMENT:
        return estimate
    found = LOSSY if estimate.doubt == LOSSY else flag or estimate.doubt
    if estimate.verdict not in JUDGED:
        return replace(estimate, doubt=flag)
    return estimate if found is None else replace(estimate, verdict="uncertain", doubt=found)


def _all_failed(trials: Sequence[Trial]) -> bool:
    """Whether all trials failed; an arm without trials did not fail."""
    return bool(trials) and all(trial.outcome == "failed" for trial in trials)
