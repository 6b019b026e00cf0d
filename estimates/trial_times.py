"""Read the times and rounds of one trial, by the clocks that the trial has.

The steady clock adds up medians of a trial's rounds, so that a stall does not count. The wall clock
gives the time from the first token to the last.
"""

from collections.abc import Iterable
from operator import mul
from typing import Literal

from schemas.submission import Trial

Clock = Literal["steady", "decode"]


def is_timed(trial: Trial) -> bool:
    return bool(trial.decode_ms) and _steps(trial) is not None


def clock(trials: tuple[Trial, ...]) -> Clock:
    """The clock for comparing trials: the steady clock if all have it, else the wall clock."""
    return "steady" if all(round_ms_of(trial) is not None for trial in trials) else "decode"


def ms_per_token(trial: Trial, by: Clock | None = None, excess: float = 1.0) -> float | None:
    """Milliseconds per token after the first; `None` if the trial failed or has only one token.

    `by` chooses the clock; without `by`, it is the steady clock if the rounds were timed. By the
    steady clock, a trial takes the sum over widths of (median duration x rounds), times `excess`.
    """
    round_ms = None if by == "decode" else round_ms_of(trial)
    if by == "decode" or (by is None and round_ms is None):
        return decode_ms_per_token(trial)
    steps = _steps(trial)
    return None if steps is None or round_ms is None else round_ms * excess / steps


def decode_ms_per_token(trial: Trial) -> float | None:
    """Milliseconds per token by the wall clock, stalls included."""
    steps = _steps(trial)
    return trial.decode_ms / steps if steps and trial.decode_ms else None


def rounds(trial: Trial) -> int | None:
    """The number of rounds in a trial: as counted, else output_tokens - 1 - accepted.

    `None` if the result is not positive: the counter of accepted tokens then counts something else.
    """
    if trial.rounds is not None:
        return trial.rounds
    if trial.output_tokens is None or trial.accepted is None:
        return None
    derived = trial.output_tokens - 1 - trial.accepted
    return derived if derived > 0 else None


def _steps(trial: Trial) -> int | None:
    """The number of tokens after the first token, which comes from prompt processing."""
    if trial.outcome != "ok" or trial.output_tokens is None or trial.output_tokens < 2:  # noqa: PLR2004 - the first token has no decode time
        return None
    return trial.output_tokens - 1


def round_ms_of(trial: Trial) -> float | None:
    """The sum over a trial's rounds of the median time at the round's width; `None` if unknown."""
    return _weighted(trial.drafted_histogram, trial.round_ms_median)


def _weighted(histogram: tuple[int, ...] | None, medians: tuple[float, ...] | None) -> float | None:
    """The sum of median x rounds over the drafted lengths that occurred; `None` if not recorded."""
    if histogram is None or medians is None:
        return None
    counts = list(filter(None, histogram))
    if len(counts) != len(medians) or not counts:
        return None
    return float(sum(map(mul, counts, medians)))


def times_ms(trials: Iterable[Trial], by: Clock, excess: float = 1.0) -> tuple[float, ...]:
    """Milliseconds per token by one clock, for the trials that have that clock."""
    return tuple(ms for t in trials if (ms := ms_per_token(t, by, excess)) is not None)
