"""Refuse answers that contradict themselves or the campaign."""

from harness.runners.base import Generation, Totals
from harness.runners.http.counters import Counted
from harness.runners.http.values import BadAnswerError
from harness.runners.openai.answer import Answer, ServerTimes

# Two clocks never agree to the last digit.
_TOLERANCE = 1.001
_SLACK_MS = 1.0


def check(answer: Answer, times: ServerTimes | None, *, limit: int) -> None:
    """Raise `BadAnswerError` when there are more tokens than were asked for, or more time."""
    if answer.output_tokens > limit:
        message = f"the server counted {answer.output_tokens} tokens where {limit} were asked for"
        raise BadAnswerError(message)
    wall_ms = (answer.last_s - answer.began_s) * 1000
    stated_ms = times.decode_ms + (times.prompt_ms or 0.0) if times else 0.0
    if stated_ms > wall_ms * _TOLERANCE + _SLACK_MS:
        message = (
            f"the server says that it worked for {stated_ms:.0f} ms, "
            f"but its answer was there after {wall_ms:.0f} ms"
        )
        raise BadAnswerError(message)


def check_drafts(counted: Counted | None, *, speculates: bool) -> None:
    """Raise `BadAnswerError` when a plain server drafted."""
    if counted is not None and counted.drafted and not speculates:
        message = (
            f"the baseline's server drafted {counted.drafted} tokens itself; "
            "give one that was started without speculation"
        )
        raise BadAnswerError(message)


def check_depth(generation: Generation, *, stated: int | None, asked: int | None) -> None:
    """Raise `BadAnswerError` when the server drafts deeper than the method says.

    `stated` is the depth that it says it was started with; else its rounds must not have drafted
    more than the method's on average.
    """
    sums = generation.rounds
    if asked is None or not isinstance(sums, Totals):
        return
    found = None
    if stated is not None and stated != asked:
        found = f"drafts up to {stated} tokens"
    elif sums.rounds is not None and (sums.drafted or 0) > sums.rounds * asked:
        found = f"drafted {sums.drafted} tokens in {sums.rounds} rounds"
    if found is not None:
        message = (
            f"the server {found}, the method says n_max={asked}; give --method the server's depth"
        )
        raise BadAnswerError(message)
