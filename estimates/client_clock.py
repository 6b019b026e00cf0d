"""How far a client's clock can be wrong about a speedup, and whether whole requests agree with it.

A stream that brings several tokens at once hides when each was written. Of a few prompts the same
request was asked for one token, too: the difference of both walls is the time of the other tokens,
whatever the stream shows. With W that difference and D the time by the client's clock, a prompt is

    x = log (W_baseline / W_arm) - log (D_baseline / D_arm)

apart, and Student's t interval over the prompts says by how much the speedup is wrong.
"""

import math
from collections.abc import Iterable
from statistics import fmean

from estimates.intervals import t_interval, time_ratio
from estimates.model import Interval
from estimates.pairing import PromptPairs
from estimates.ratios import Scope
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary.flags import FLAGS

ONLY_REQUESTS = "whole-requests-only"
_MOST = math.log1p(FLAGS[ONLY_REQUESTS].bounds["apart"])


def error(submission: Submission, arm: Arm) -> Interval | None:
    """By which factor whole requests differ from the speedup; `None` if too few were asked."""
    beside = {
        (trial.arm, trial.prompt, trial.block): found
        for trial in submission.trials
        if (found := _beside(trial)) is not None
    }
    return t_interval(
        [
            beside[plain] - own
            for (name, *trial), own in beside.items()
            if name == arm.id and (plain := (arm.baseline, *trial)) in beside
        ]
    )


def apart(submission: Submission, arm: Arm) -> float:
    """The least of that error as a logarithm; 0 if there may be none, or none is known."""
    return _least(error(submission, arm))


def only_requests(submission: Submission, arm: Arm) -> bool:
    """Whether the times of tokens are so wrong that only whole requests can be compared."""
    return abs(apart(submission, arm)) > _MOST


def widened(interval: Interval, scope: Scope) -> Interval:
    """The interval with what the client's clock hides, up to where whole requests begin.

    These bound the grain where they are known better.
    """
    grain = math.hypot(_grain(scope, own=True), _grain(scope, own=False))
    found = error(scope.submission, scope.arm)
    if found is None:
        return interval.wider(grain)
    most = max(abs(math.log(found.low)), abs(math.log(found.high)))
    ratio = time_ratio(scope.times) * math.exp(_least(found))
    interval = interval.wider(min(grain, most))
    return Interval(low=min(interval.low, ratio), high=max(interval.high, ratio))


def request_ms(pairs: PromptPairs) -> tuple[float, float] | None:
    """Milliseconds of whole requests a token of answer; `None` where a cache may have helped."""
    return pairs.times(
        lambda trial: (
            trial.wall_ms / trial.output_tokens
            if trial.wall_ms and trial.output_tokens and trial.ttft_ms is not None
            else None
        )
    )


def _least(found: Interval | None) -> float:
    if found is None:
        return 0.0
    return math.log(max(1.0, found.low)) + math.log(min(1.0, found.high))


def _beside(trial: Trial) -> float | None:
    """Logarithm of the time by whole requests over that by the client's clock."""
    if trial.one_token_ms is None or trial.wall_ms is None or not trial.decode_ms:
        return None
    left_ms = trial.wall_ms - trial.one_token_ms
    return math.log(left_ms / trial.decode_ms) if left_ms > 0 else None


def _grain(scope: Scope, *, own: bool) -> float:
    """How much of the time of an arm's tokens may be wrong, on average over prompts."""
    return fmean(_share(pairs.trials if own else pairs.baseline_trials) for pairs in scope.prompts)


def _share(trials: Iterable[Trial]) -> float:
    shares = [
        trial.grain_ms / trial.decode_ms for trial in trials if trial.grain_ms and trial.decode_ms
    ]
    return fmean(shares) if shares else 0.0
