"""Compute the throughput of the whole machine while several requests are in flight.

A pass is one arm's run over all prompts of a block. Its throughput is the output of all its
requests over the time from the first request to the last token, prompt processing included.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from estimates.intervals import ratio_interval, time_ratio
from estimates.model import Throughput
from estimates.pairing import stream_tps
from estimates.trial_times import is_timed
from schemas.submission import Arm, Submission, Trial

Passes = dict[int, float]  # output tokens per second, by block


# Times are rounded to microseconds, so a request may seem to begin before another ends.
_ROUNDED_MS = 0.01


def throughput(submission: Submission) -> tuple[Throughput, ...]:
    """The throughput of each timed arm; empty if no arm had several requests in flight."""
    if all((arm.concurrency or 1) == 1 for arm in submission.arms):
        return ()
    passes = {arm.id: _passes(submission, arm) for arm in submission.arms}
    found: list[Throughput] = []
    for base in (arm for arm in submission.arms if arm.role == "baseline"):
        beside = [arm for arm in submission.arms if base.id in (arm.id, arm.baseline)]
        timed = [arm for arm in beside if passes[arm.id]]
        # All arms use the same blocks, so that the ratio of printed totals is the printed speedup.
        blocks = sorted(set.intersection(*(set(passes[arm.id]) for arm in timed))) if timed else []
        times = {arm.id: [1000 / passes[arm.id][block] for block in blocks] for arm in timed}
        found += (_of(submission, arm, times) for arm in timed if blocks and base in timed)
    return tuple(found)


def _of(submission: Submission, arm: Arm, times: Mapping[str, Sequence[float]]) -> Throughput:
    """One arm's entry; `times` are the ms per token of the whole passes of each arm."""
    own = times[arm.id]
    passes = [[*zip(times[arm.baseline], own, strict=True)]] if arm.baseline else None
    return Throughput(
        arm=arm.id,
        baseline=arm.baseline,
        concurrency=arm.concurrency or 1,
        passes=len(own),
        stream_tps=stream_tps(submission, arm) or 0.0,
        total_tps=1000 / fmean(own),
        total_speedup=time_ratio(passes) if passes else None,
        interval=ratio_interval(passes) if passes else None,
    )


def _passes(submission: Submission, arm: Arm) -> Passes:
    """An arm's tokens/s in each whole pass, by block; a pass that lacks a prompt is left out."""
    blocks: dict[int, list[Trial]] = {}
    for trial in submission.trials:
        if trial.arm == arm.id and is_timed(trial) and trial.wall_ms:
            blocks.setdefault(trial.block, []).append(trial)
    return {
        block: 1000 * sum(trial.output_tokens or 0 for trial in trials) / ms
        for block, trials in blocks.items()
        if len(trials) == len(submission.suite.prompts)
        if (ms := _pass_ms(trials, arm.concurrency or 1)) is not None
    }


def _pass_ms(trials: Sequence[Trial], concurrency: int) -> float | None:
    """The milliseconds of a pass; `None` if unknown, or if the pass was interrupted and resumed."""
    if concurrency == 1:
        return sum(trial.wall_ms or 0.0 for trial in trials)
    spans = [
        (trial.started_ms, trial.started_ms + (trial.wall_ms or 0.0))
        for trial in trials
        if trial.started_ms is not None
    ]
    # Both parts of a resumed pass begin at 0, so more requests seem to be in flight than allowed.
    in_flight = (
        sum(start <= moment < end - _ROUNDED_MS for start, end in spans) for moment, _ in spans
    )
    if len(spans) < len(trials) or max(in_flight) > concurrency:
        return None
    return max(end for _, end in spans) - min(start for start, _ in spans)
