"""Estimate the error that a client's clock causes in a speedup, from the times of whole requests.

A stream that delivers several tokens together hides when each token was generated. A few prompts
are therefore sent a second time, as a request for a single token. The difference W between the wall
times of the two requests is the time for the other tokens, however they were streamed. With D for
the time by the client's clock,

    x = log (W_baseline / W_arm) - log (D_baseline / D_arm)

is the error on a prompt. Student's t interval over the prompts shows whether the speedup is wrong.
"""

import math
from collections.abc import Callable
from statistics import fmean

from estimates.intervals import t_interval, time_ratio
from estimates.model import Interval
from estimates.pairing import PromptPairs
from estimates.ratios import Scope
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary.flags import FLAGS

ONLY_REQUESTS = "whole-requests-only"
# The noise between two requests in the time until an answer begins.
_SLACK_MS = 10.0
# The difference of two requests may be zero or, because of noise, negative.
_SHORTEST_MS = 1.0
# Answers are too short for a client's clock if that noise is a larger share of their time.
_SHORT = 0.5
_MOST = math.log1p(FLAGS[ONLY_REQUESTS].bounds["apart"])


def error(submission: Submission, arm: Arm, slack_ms: float = _SLACK_MS) -> Interval | None:
    """The interval of the speedup by whole requests over that by the client's clock, if known."""
    logs = {
        (trial.arm, trial.prompt, trial.block): found
        for trial in submission.trials
        if trial.one_token_ms is not None
        and trial.arm in (arm.id, arm.baseline)
        and (found := _log_difference(trial, slack_ms)) is not None
    }
    return t_interval(
        [
            logs[plain] - own
            for (name, *trial), own in logs.items()
            if name == arm.id and (plain := (arm.baseline, *trial)) in logs
        ]
    )


def apart(submission: Submission, arm: Arm) -> float:
    """The logarithm of the centre of `error`'s interval; 0 if it is unknown or contains 1."""
    return _log_centre(error(submission, arm))


def _log_centre(found: Interval | None) -> float:
    if found is None or found.low <= 1 <= found.high:
        return 0.0
    return math.log(found.low * found.high) / 2


def only_requests(submission: Submission, arm: Arm) -> bool:
    """Whether token times are so wrong that only whole requests can be compared.

    This is so if the error exceeds the bound and its whole interval exceeds half of the bound.
    """
    found = error(submission, arm)
    if found is None or abs(apart(submission, arm)) <= _MOST:
        return False
    return min(abs(math.log(found.low)), abs(math.log(found.high))) > _MOST / 2


def widened(interval: Interval, scope: Scope) -> Interval:
    """Widen the interval by the error of the client's clock.

    Whole requests are more exact, so they limit the widening, and the interval includes their
    ratio. For short answers the whole error is added, because a server may have generated the
    complete answer before it sent the first word.
    """
    grain = _share(scope, lambda trial: trial.grain_ms or 0.0)
    slack = _share(scope, lambda _: _SLACK_MS)
    short = slack > _SHORT
    factor = error(scope.submission, scope.arm, slack_ms=0.0 if short else _SLACK_MS)
    if factor is None:
        return interval.wider(grain)
    most = max(-math.log(factor.low), math.log(factor.high))
    ratio = time_ratio(scope.times) * math.exp(_log_centre(factor))
    interval = interval.wider(max(grain, most) if short else min(grain, most + slack))
    return Interval(low=min(interval.low, ratio), high=max(interval.high, ratio))


def request_ms(pairs: PromptPairs) -> tuple[float, float] | None:
    """Milliseconds of a whole request per answer token, for the baseline and the arm.

    `None` if a time is unknown or a prompt cache may have helped.
    """
    return pairs.times(
        lambda trial: (
            trial.wall_ms / trial.output_tokens
            if trial.wall_ms and trial.output_tokens and trial.ttft_ms is not None
            else None
        )
    )


def _log_difference(trial: Trial, slack_ms: float) -> float | None:
    """The log ratio of two decode times: by whole requests, and by the client's clock."""
    if trial.one_token_ms is None or trial.wall_ms is None or not trial.decode_ms:
        return None
    left_ms = max(_SHORTEST_MS, trial.wall_ms - trial.one_token_ms)
    if abs(left_ms - trial.decode_ms) < slack_ms:
        return 0.0
    return math.log(left_ms / trial.decode_ms)


def _share(scope: Scope, ms: Callable[[Trial], float]) -> float:
    """The mean share of `ms` in the decode time, combined over both arms in quadrature."""
    arms = zip(*((pairs.trials, pairs.baseline_trials) for pairs in scope.prompts), strict=True)
    shares = [
        [ms(trial) / (trial.decode_ms or math.inf) for trials in arm for trial in trials]
        for arm in arms
    ]
    return math.hypot(*(fmean(each or [0.0]) for each in shares))
