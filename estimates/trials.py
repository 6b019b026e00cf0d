"""How long did one token take in one trial?

Two clocks are possible. `rounds` adds up the median duration of a round for every drafted length,
times the number of such rounds: a stall that hits a few rounds does not move it. `decode` is the
plain time from the first token to the last, the only one that servers report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from schemas.submission import Trial

Clock = Literal["rounds", "decode"]


def is_timed(trial: Trial) -> bool:
    """Whether the trial finished with at least one token after the first, in measurable time."""
    return decode_ms_per_token(trial) is not None


def clock(trials: tuple[Trial, ...]) -> Clock:
    """The clock that all of these trials have: two clocks are never compared with each other."""
    return "rounds" if all(_round_ms(trial) is not None for trial in trials) else "decode"


def ms_per_token(trial: Trial, by: Clock | None = None) -> float | None:
    """Milliseconds per token after the first; `None` when the trial failed or made one token.

    `by` chooses the clock; without it the rounds are used where they were timed.
    """
    if by == "decode" or (by is None and _round_ms(trial) is None):
        return decode_ms_per_token(trial)
    steps = _steps(trial)
    round_ms = _round_ms(trial)
    return None if steps is None or round_ms is None else round_ms / steps


def decode_ms_per_token(trial: Trial) -> float | None:
    """Milliseconds per token by the plain clock, stalls included."""
    steps = _steps(trial)
    return trial.decode_ms / steps if steps and trial.decode_ms else None


def cpu_ms_per_token(trial: Trial) -> float | None:
    """Processor milliseconds per token over all threads, from the medians of the rounds."""
    steps = _steps(trial)
    cpu_ms = _weighted(trial.drafted_histogram, trial.round_cpu_ms_median)
    return cpu_ms / steps if steps and cpu_ms else None


def rounds(trial: Trial) -> int | None:
    """Rounds of a finished trial: as counted, or output_tokens - 1 - accepted.

    `None` where accepted tokens leave no round over: then that counter counts something else.
    """
    if trial.rounds is not None:
        return trial.rounds
    if trial.output_tokens is None or trial.accepted is None:
        return None
    derived = trial.output_tokens - 1 - trial.accepted
    return derived if derived > 0 else None


def _steps(trial: Trial) -> int | None:
    """Tokens after the first, which prompt processing yields."""
    if trial.outcome != "ok" or trial.output_tokens is None or trial.output_tokens < 2:  # noqa: PLR2004 - the first token has no decode time
        return None
    return trial.output_tokens - 1


def _round_ms(trial: Trial) -> float | None:
    return _weighted(trial.drafted_histogram, trial.round_ms_median)


def _weighted(histogram: tuple[int, ...] | None, medians: tuple[float, ...] | None) -> float | None:
    """Sum of median x rounds over the drafted lengths that occurred; `None` if not recorded."""
    if histogram is None or medians is None:
        return None
    counts = [count for count in histogram if count]
    if len(counts) != len(medians) or not counts:
        return None
    return sum(count * median for count, median in zip(counts, medians, strict=True))
