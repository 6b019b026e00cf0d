"""The throughput of the whole machine while several requests are in flight.

One pass is one arm over all prompts of a block. Its total throughput is the output of all its
requests over the time from the first request to the last token, prompt processing included; with
one request at a time, over the sum of their times. Speculation spends work that a batch could
have used for other requests, so the total may lose where a single stream still wins.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median

from estimates.intervals import t_interval
from estimates.model import Throughput
from estimates.pairing import is_timed
from schemas.submission import Arm, Submission, Trial

Passes = dict[int, float]  # block -> output tokens per second


# Times are rounded to microseconds, so that a request may seem to begin before another's end.
_ROUNDED_MS = 0.01


def throughput(submission: Submission) -> tuple[Throughput, ...]:
    """One entry per arm that was timed, if any arm had several requests in flight; else none."""
    if all((arm.concurrency or 1) == 1 for arm in submission.arms):
        return ()
    passes = {arm.id: _passes(submission, arm) for arm in submission.arms}
    return tuple(
        _of(submission, arm, passes[arm.id], passes.get(arm.baseline or "", {}))
        for arm in submission.arms
        if passes[arm.id]
    )


def _of(submission: Submission, arm: Arm, own: Passes, base: Passes) -> Throughput:
    ratios = [math.log(own[block] / base[block]) for block in sorted(own.keys() & base.keys())]
    return Throughput(
        arm=arm.id,
        baseline=arm.baseline,
        concurrency=arm.concurrency or 1,
        passes=len(own),
        stream_tps=median(
            ((trial.output_tokens or 1) - 1) / trial.decode_ms * 1000
            for trial in submission.trials
            if trial.arm == arm.id and is_timed(trial) and trial.decode_ms
        ),
        total_tps=median(own.values()),
        total_speedup=math.exp(fmean(ratios)) if ratios else None,
        interval=t_interval(ratios),
    )


def _passes(submission: Submission, arm: Arm) -> Passes:
    """Whole passes only: one that lacks a prompt answered another mixture than its baseline."""
    blocks: dict[int, list[Trial]] = {}
    for trial in submission.trials:
        if trial.arm == arm.id and is_timed(trial) and trial.wall_ms:
            blocks.setdefault(trial.block, []).append(trial)
    timed = {
        block: _pass_ms(trials, arm.concurrency or 1)
        for block, trials in blocks.items()
        if len(trials) == len(submission.suite.prompts)
    }
    return {
        block: 1000 * sum(trial.output_tokens or 0 for trial in blocks[block]) / ms
        for block, ms in timed.items()
        if ms is not None
    }


def _pass_ms(trials: Sequence[Trial], concurrency: int) -> float | None:
    """How long a pass took; `None` if that is unknown, or if a resumption cut it in two."""
    if concurrency == 1:
        return sum(trial.wall_ms or 0.0 for trial in trials)
    spans = [
        (trial.started_ms, trial.started_ms + (trial.wall_ms or 0.0))
        for trial in trials
        if trial.started_ms is not None
    ]
    if len(spans) < len(trials) or _most_in_flight(spans) > concurrency:
        return None
    return max(end for _, end in spans) - min(start for start, _ in spans)


def _most_in_flight(spans: Sequence[tuple[float, float]]) -> int:
    """Two parts of a pass both begin at 0, so that more seem to be in flight than ever were."""
    ends = [(start, end - _ROUNDED_MS) for start, end in spans]
    return max(sum(start <= moment < end for start, end in ends) for moment, _ in spans)
