"""Run one campaign of an arm against itself; the true ratio is exactly 1."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from statistics import fmean, median
from typing import Literal

from estimates.intervals import t_interval
from estimates.model import Estimate, Interval
from estimates.pairing import PromptPairs, pair
from estimates.summary import summarize
from estimates.trial_times import decode_ms_per_token
from harness.campaign.arms import label
from harness.campaign.from_options import campaign_from
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from schemas.method import NO_SPECULATION
from schemas.submission import Submission, Trial

Part = Literal["quiet", "loaded"]

SUITE = Path(__file__).with_name("aa.toml")
AGAIN = NO_SPECULATION
# The number is even, so that the first half of the trials has the same prompts as the second half.
BLOCKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AaOutcome:
    """Estimates from the trials of one campaign, whose true ratio is 1.

    `ratio`, `low` and `high` are the project's own estimate and its interval: paired and
    interleaved, from each trial's median round time. `processor` uses processor time instead of
    wall time. Processor time excludes the time for which another program had the core, so it shows
    how much of a wide interval other programs cause. `naive_interleaved` is the ratio of the two
    arms' mean tokens per second over all trials, without pairing, in the order of the campaign.
    `naive_sequential` simulates measuring one arm after the other. Both arms are the same, so the
    first half of the campaign is used as the first arm and the second half as the other; each half
    has every prompt equally often. This estimate, too, is a ratio of mean rates.
    """

    part: Part
    seed: int
    ratio: float
    low: float
    high: float
    processor: float
    processor_low: float
    processor_high: float
    naive_interleaved: float
    naive_sequential: float
    baseline_tps: float


def plan(seed: int) -> Campaign:
    """A campaign with two arms of the plain default model; the seed shuffles the prompts."""
    options = Options(suite=str(SUITE), methods=(AGAIN,), blocks=BLOCKS, seed=seed)
    return campaign_from(options, say=lambda _: None)


def outcome(submission: Submission, part: Part, seed: int) -> AaOutcome:
    """Return the estimates from an A/A campaign. Raises `ValueError` if there is no interval."""
    overall = _overall(summarize(submission).estimates)
    processor = _by_processor_time(submission)
    if not (overall.speedup and overall.interval and overall.baseline_tps and processor):
        raise ValueError(f"{part} campaign {seed} has no interval: verdict {overall.verdict}")
    arms = [[t for t in submission.trials if t.arm == arm.id] for arm in submission.arms]
    half = len(submission.trials) // 2
    return AaOutcome(
        part=part,
        seed=seed,
        ratio=overall.speedup,
        low=overall.interval.low,
        high=overall.interval.high,
        processor=math.sqrt(processor.low * processor.high),
        processor_low=processor.low,
        processor_high=processor.high,
        naive_interleaved=_mean_tps(arms[1]) / _mean_tps(arms[0]),
        naive_sequential=_mean_tps(submission.trials[half:]) / _mean_tps(submission.trials[:half]),
        baseline_tps=overall.baseline_tps,
    )


def _overall(estimates: Iterable[Estimate]) -> Estimate:
    return next(each for each in estimates if each.task is None and each.arm == label(AGAIN))


def _by_processor_time(submission: Submission) -> Interval | None:
    again = next(arm for arm in submission.arms if arm.id == label(AGAIN))
    return t_interval([_processor_log_ratio(each) for each in pair(submission, again)])


def _processor_log_ratio(pairs: PromptPairs) -> float:
    both = zip(pairs.baseline_trials, pairs.trials, strict=True)
    times = ((_cpu_ms(base), _cpu_ms(own)) for base, own in both)
    return median(math.log(base / own) for base, own in times if base and own)


def _cpu_ms(trial: Trial) -> float:
    """Milliseconds of processor time per token, over all threads, from the rounds' medians."""
    counts = filter(None, trial.drafted_histogram or ())
    cpu_ms = sum(map(mul, counts, trial.round_cpu_ms_median or ()))
    return cpu_ms / ((trial.output_tokens or 1) - 1)


def _mean_tps(trials: Sequence[Trial]) -> float:
    """Mean of the trials' tokens per second by wall time, stalls included."""
    return fmean(1000 / ms for trial in trials if (ms := decode_ms_per_token(trial)) is not None)
