"""Can an answer be what it says it is? What contradicts itself must not become a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runners.base import Totals
from harness.runners.server.answer import BadAnswerError

if TYPE_CHECKING:
    from harness.runners.base import Generation
    from harness.runners.openai.answer import Answer
    from harness.runners.openai.counters import Counted
    from harness.runners.openai.times import ServerTimes

# Two clocks never agree to the last digit.
_TOLERANCE = 1.001
_SLACK_MS = 1.0


def check(answer: Answer, times: ServerTimes | None, *, limit: int) -> None:
    """Raise `BadAnswerError` when there are more tokens than were asked for, or more time."""
    if answer.output_tokens > limit:
        message = f"the server counted {answer.output_tokens} tokens where {limit} were asked for"
        raise BadAnswerError(message)
    wall_ms = (answer.last_s - answer.began_s) * 1000
    said_ms = times.decode_ms + (times.prompt_ms or 0.0) if times else 0.0
    if said_ms > wall_ms * _TOLERANCE + _SLACK_MS:
        message = (
            f"the server says that it worked for {said_ms:.0f} ms, "
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


def check_depth(generation: Generation, *, told: int | None, asked: int | None) -> None:
    """Raise `BadAnswerError` when the server drafts deeper than the method says.

    `told` is the depth that it says it was started with; else its rounds must not have drafted
    more than the method's on average.
    """
    sums = generation.rounds
    if asked is None or not isinstance(sums, Totals):
        return
    found = None
    if told is not None and told != asked:
        found = f"drafts up to {told} tokens"
    elif sums.rounds is not None and (sums.drafted or 0) > sums.rounds * asked:
        found = f"drafted {sums.drafted} tokens in {sums.rounds} rounds"
    if found is not None:
        message = (
            f"the server {found}, the method says n_max={asked}; give --method the server's depth"
        )
        raise BadAnswerError(message)
