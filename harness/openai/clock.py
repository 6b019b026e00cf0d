"""Time the tokens of a streamed answer by the client's clock, and check the server's own figures.

Servers and proxies may send several tokens together, in the first chunk or in every chunk. The time
after the first chunk covers only the tokens after that chunk, and the delay of a chunk is unknown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from os.path import commonprefix

from harness.openai.streamed_answer import ServerTimes, StreamedAnswer
from harness.runners.http.values import BadAnswerError

# A server's time agrees with the client's if at most this share is missing. The server's time is
# wrong if both a larger share and more than this many milliseconds are missing.
_APART = 0.10
_APART_MS = 50.0
# The tolerance of a server's token count against the baseline's for the same characters.
_MISCOUNTED = 0.15
# Chunks with a gap below this share of the mean gap arrived together.
_AT_ONCE = 0.25
# The tokens of a round have at most this many times the average text per token.
_UNEVEN = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class _DecodeTime:
    """The time from the first token to the last in ms, and its error (`grain_ms`).

    `proven`: the server reported the time, and the client's clock agrees.
    """

    decode_ms: float
    grain_ms: float = 0.0
    proven: bool = False


def decode_time(
    answer: StreamedAnswer,
    times: ServerTimes | None,
    *,
    longest: int,
    server_clock: bool,
    alone: bool,
) -> _DecodeTime:
    """Return the decode time: the server's if `server_clock` and `times` are set, or the client's.

    An unproven server time is used only for a request that was `alone` in flight, because only then
    does the request's duration confirm it. The client's time of a concurrent request has an
    additional error: the first chunk may hide tokens.

    `longest` is the maximum number of tokens that a round can yield. Raises `BadAnswerError` if
    neither time is usable, and for `times` that contradict the answer.
    """
    client = client_time(answer, longest=longest)
    proven = times is not None and times_agree(times, answer, client)
    if times is not None and server_clock and (alone or proven):
        return _DecodeTime(decode_ms=times.decode_ms, proven=proven)
    if client is None:
        raise BadAnswerError(
            "the whole answer arrived in one piece, so the time per token is unknown; the server "
            "must stream its answers"
        )
    return client if alone else _with_first_chunk(client, answer, longest)


def _with_first_chunk(client: _DecodeTime, answer: StreamedAnswer, longest: int) -> _DecodeTime:
    """Add the error of a first chunk longer than a round: it may hold a token per character."""
    first = sizes(answer)[0] if answer.chunk_characters else 0.0
    if answer.tokens is not None or first <= longest * _UNEVEN:
        return client
    least = max(1, answer.output_tokens - answer.chunk_characters[0])
    hidden_ms = client.decode_ms * math.log((answer.output_tokens - first) / least)
    return replace(client, grain_ms=math.hypot(client.grain_ms, hidden_ms))


def client_time(answer: StreamedAnswer, *, longest: int) -> _DecodeTime | None:
    """Return the time by the client's clock; `None` if the whole answer arrived in one chunk.

    A chunk that is no longer than a round is assumed to arrive when its round is finished.
    """
    measured_ms = (answer.last_s - answer.first_s) * 1000
    if answer.output_tokens == 1:
        return _DecodeTime(decode_ms=measured_ms)
    of_chunks = sizes(answer)
    # MLX sends the tokens of a round one by one: skip the chunks that arrived with the first chunk.
    leading = 1 + sum(takewhile(bool, _with_the_last(answer.chunk_s)))
    others = of_chunks[leading:]
    later = answer.output_tokens - sum(of_chunks[:leading])
    if measured_ms <= 0 or later <= 0:
        return None
    decode_ms = min(measured_ms * (answer.output_tokens - 1) / later, answer.wall_ms)
    mean = sum(gap**2 for gap in others) / (sum(others) or 1)  # chunk size, mean over tokens
    held = mean - 1 if mean > longest * _UNEVEN else 0.0
    return _DecodeTime(decode_ms=decode_ms, grain_ms=decode_ms * min(1.0, held / later))


def _with_the_last(chunk_s: Sequence[float]) -> list[bool]:
    """For each chunk but the first, return whether it arrived together with the previous chunk."""
    gaps = [after - before for before, after in pairwise(chunk_s)]
    return [gap < _AT_ONCE * sum(gaps) / len(gaps) for gap in gaps]


def sizes(answer: StreamedAnswer) -> Sequence[float]:
    """Return each chunk's token count: its number of token ids, or an estimate.

    The estimate divides the tokens, except EOS, in proportion to the length of the text.
    """
    if answer.tokens is not None:
        return answer.chunk_tokens
    characters = answer.chunk_characters
    written = max(1, answer.output_tokens - (answer.finish == "stop"))
    if len(characters) >= written:
        return [1.0] * len(characters)
    known = sum(characters)
    shares = [written * (each / known if known else 1 / len(characters)) for each in characters]
    # Each chunk except the first has at least one token.
    shares[0] = max(1.0, min(round(shares[0]), written - len(shares) + 1.0))
    return shares


def times_agree(times: ServerTimes, answer: StreamedAnswer, client: _DecodeTime | None) -> bool:
    """Return whether the server's times cover the answer's wall time, or agree with the client's.

    Raises `BadAnswerError` if the server clearly left out part of the work.
    """
    missing_ms = abs(answer.wall_ms - times.worked_ms)
    if client is not None:
        missing_ms = min(missing_ms, abs(client.decode_ms - times.decode_ms))
    apart = missing_ms > _APART * (client.decode_ms if client else answer.wall_ms)
    if apart and missing_ms > _APART_MS:
        raise BadAnswerError(
            f"the server states {times.worked_ms:.0f} ms of work, but its answer took "
            f"{answer.wall_ms:.0f} ms: the stated time leaves out some of the work"
        )
    return not apart


def check_tokens(answer: StreamedAnswer, baseline: StreamedAnswer) -> None:
    """Raise `BadAnswerError` if the server's token count does not fit the text.

    The expected count is derived from the baseline's answer to the same prompt; after the point
    where the texts diverge, the count is approximate.
    """
    if answer.tokens is not None or not answer.text or not baseline.text:
        return
    alike = len(commonprefix([answer.text, baseline.text]))  # noqa: RUF071 - no paths
    other = (len(answer.text) - alike) * baseline.output_tokens / len(baseline.text)
    expected = _tokens_within(baseline, alike) + other
    # Assume 4 ± 2 characters per token; the end token has no text.
    apart = 0.0 if answer.text == baseline.text else _MISCOUNTED * expected + 2 * other**0.5
    if abs(answer.output_tokens - expected) > apart + 1:
        raise BadAnswerError(
            f"the server counted {answer.output_tokens} tokens, but by the baseline server's "
            f"count, its text has about {expected:.0f}: one of the two servers counts tokens "
            "that it does not send"
        )


def _tokens_within(answer: StreamedAnswer, characters: int) -> float:
    found = 0.0
    for length, tokens in zip(answer.chunk_characters, sizes(answer), strict=False):
        found += tokens * min(1.0, characters / length) if length else tokens
        characters -= length
        if characters <= 0:
            break
    return found
