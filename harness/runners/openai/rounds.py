"""How many rounds were there? From what an engine counted, put into the format's way of counting.

The format counts `output_tokens = 1 + accepted + rounds`. Engines count the accepted tokens of the
last round, too, that no longer fitted into the output (vLLM verifies a whole draft and then cuts at
the limit); those are taken off here. Their number follows from two bounds: rounds cannot be fewer
than those that drafted, nor than the chunks of token ids after the first, since no engine sends the
tokens of one round in two chunks.
"""

from collections.abc import Sequence

from harness.runners.base import Generation, Totals
from harness.runners.http.counters import Counters
from harness.runners.llama_server.exchange import BadAnswerError
from harness.runners.openai.answer import Answer, ServerTimes
from harness.runners.openai.counters import Counted


def totals(
    *,
    decode_ms: float,
    output_tokens: int,
    counted: Counted | None,
    page: Counters | None = None,
    chunk_tokens: Sequence[int] = (),
) -> Totals:
    """The sums of an answer. `page` is what the metrics page counted, if that was read, too."""
    if counted is None:
        return Totals(decode_ms=decode_ms)
    cut = cut_off(counted, output_tokens, chunk_tokens)
    accepted = counted.accepted - cut
    rounds = output_tokens - 1 - accepted
    differs = page is not None and (page.drafted, page.accepted) != (
        counted.drafted,
        counted.accepted,
    )
    return Totals(
        decode_ms=decode_ms,
        rounds=rounds,
        drafted=counted.drafted,
        accepted=accepted,
        accepted_histogram=_histogram(counted, rounds, cut, chunk_tokens),
        metrics_drafted=page.drafted if page and differs else None,
        # In the format's way of counting, too, so that what differs is not only that.
        metrics_accepted=max(page.accepted - cut, 0) if page and differs else None,
    )


def cut_off(counted: Counted, output_tokens: int, chunk_tokens: Sequence[int]) -> int:
    """Accepted tokens of the last round that are not in the output."""
    rounds = output_tokens - 1 - counted.accepted
    fewest = max(counted.steps or 0, len(chunk_tokens) - 1, 0)
    return min(max(0, fewest - rounds), counted.accepted)


def _histogram(
    counted: Counted, rounds: int, cut: int, chunk_tokens: Sequence[int]
) -> tuple[int, ...] | None:
    """Rounds by accepted length. `None` where it is not told, or the last round's is not known."""
    if not counted.drafted:
        return (rounds,)
    if counted.histogram is None or counted.steps is None:
        return None
    counts = [*counted.histogram]
    if cut:
        last = (chunk_tokens[-1] if chunk_tokens else 0) - 1 + cut
        if not cut <= last < len(counts) or not counts[last]:
            return None
        counts[last] -= 1
        counts[last - cut] += 1
    counts[0] += rounds - counted.steps
    while len(counts) > 1 and counts[-1] == 0:
        counts.pop()
    return tuple(counts) if _adds_up(counts, rounds, counted.accepted - cut) else None


def _adds_up(counts: Sequence[int], rounds: int, accepted: int) -> bool:
    tokens = sum(length * number for length, number in enumerate(counts))
    return min(counts) >= 0 and sum(counts) == rounds and tokens == accepted


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
