"""The client's clock: how long the tokens of a streamed answer took, and what they must agree with.

Servers and proxies send several tokens at once, first or always. Only the tokens after the first
chunk were written in the time after it; how long a chunk was held back is not known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from os.path import commonprefix

from harness.openai.streamed_answer import Answer, ServerTimes
from harness.runners.http.values import BadAnswerError

# A server's own time is that of the answer if no more than this share of it is missing, and wrong
# if so many milliseconds are missing as well.
_APART = 0.10
_APART_MS = 50.0
# The same for its count of tokens, beside those of the baseline for the same characters.
_MISCOUNTED = 0.15
# Chunks that follow each other in less than this share of the usual time were made at once.
_AT_ONCE = 0.25
# A round's tokens have this much more text than their share of it, at most.
_UNEVEN = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class _DecodeTime:
    """Milliseconds from the first token to the last, and by how many they may be wrong.

    `proven`: they are the server's own, and the client's clock agrees.
    """

    decode_ms: float
    grain_ms: float = 0.0
    proven: bool = False


def decode_time(
    answer: Answer, times: ServerTimes | None, *, longest: int, server_clock: bool, alone: bool
) -> _DecodeTime:
    """By the server's clock if it is to count and `times` are there, else by the client's.

    Whole requests check an unproven time, but only of requests that are `alone`; of others the
    client's counts, and how far its first chunk may hide tokens.

    `longest` is how many tokens a round may yield. Raises `BadAnswerError` where neither is known,
    and for `times` that are not the answer's.
    """
    client = client_time(answer, longest=longest)
    proven = times is not None and times_agree(times, answer, client)
    if times is not None and server_clock and (alone or proven):
        return _DecodeTime(decode_ms=times.decode_ms, proven=proven)
    if client is None:
        raise BadAnswerError(
            "the whole answer came in one piece, so it is unknown how long its tokens took; "
            "the server must stream"
        )
    return client if alone else _with_first_chunk(client, answer, longest)


def _with_first_chunk(client: _DecodeTime, answer: Answer, longest: int) -> _DecodeTime:
    """With the error of a first chunk that is longer than a round: it has a token a character."""
    first = sizes(answer)[0] if answer.chunk_characters else 0.0
    if answer.tokens is not None or first <= longest * _UNEVEN:
        return client
    least = max(1, answer.output_tokens - answer.chunk_characters[0])
    hidden_ms = client.decode_ms * math.log((answer.output_tokens - first) / least)
    return replace(client, grain_ms=math.hypot(client.grain_ms, hidden_ms))


def client_time(answer: Answer, *, longest: int) -> _DecodeTime | None:
    """By the client's clock; `None` where the whole answer came in one piece.

    A chunk that is no longer than a round was sent when its round was done.
    """
    measured_ms = (answer.last_s - answer.first_s) * 1000
    if answer.output_tokens == 1:
        return _DecodeTime(decode_ms=measured_ms)
    of_chunks = sizes(answer)
    # Chunks that came with the first one: MLX sends the tokens of a round one by one.
    leading = 1 + sum(takewhile(bool, _with_the_last(answer.chunk_s)))
    others = of_chunks[leading:]
    later = answer.output_tokens - sum(of_chunks[:leading])
    if measured_ms <= 0 or later <= 0:
        return None
    decode_ms = min(measured_ms * (answer.output_tokens - 1) / later, answer.wall_ms)
    mean = sum(gap**2 for gap in others) / (sum(others) or 1)  # of the chunk of a token
    held = mean - 1 if mean > longest * _UNEVEN else 0.0
    return _DecodeTime(decode_ms=decode_ms, grain_ms=decode_ms * min(1.0, held / later))


def at_once(answer: Answer) -> float:
    """The share of chunks that came together with the one before, as those of a round do."""
    found = _with_the_last(answer.chunk_s)
    return sum(found) / len(found) if found else 0.0


def _with_the_last(chunk_s: Sequence[float]) -> list[bool]:
    """Of each chunk but the first, whether it was made at once with the one before."""
    gaps = [after - before for before, after in pairwise(chunk_s)]
    return [gap < _AT_ONCE * sum(gaps) / len(gaps) for gap in gaps]


def sizes(answer: Answer) -> Sequence[float]:
    """Tokens of each chunk: of its ids, else its share of the text. The end is without text."""
    if answer.tokens is not None:
        return answer.chunk_tokens
    characters = answer.chunk_characters
    written = max(1, answer.output_tokens - (answer.finish == "stop"))
    if len(characters) >= written:
        return [1.0] * len(characters)
    known = sum(characters)
    shares = [written * (each / known if known else 1 / len(characters)) for each in characters]
    # Each of the other chunks has at least one.
    shares[0] = max(1.0, min(round(shares[0]), written - len(shares) + 1.0))
    return shares


def times_agree(times: ServerTimes, answer: Answer, client: _DecodeTime | None) -> bool:
    """Whether the server's times account for the answer's, by either of two clocks.

    Raises `BadAnswerError` if they clearly do not: a part of the work was not counted.
    """
    missing_ms = abs(answer.wall_ms - times.worked_ms)
    if client is not None:
        missing_ms = min(missing_ms, abs(client.decode_ms - times.decode_ms))
    apart = missing_ms > _APART * (client.decode_ms if client else answer.wall_ms)
    if apart and missing_ms > _APART_MS:
        raise BadAnswerError(
            f"the server says that it worked for {times.worked_ms:.0f} ms, but its answer took "
            f"{answer.wall_ms:.0f} ms: its own time leaves something out"
        )
    return not apart


def check_tokens(answer: Answer, baseline: Answer) -> None:
    """Raise `BadAnswerError` if the server counts more or fewer tokens than the text has.

    The baseline's answer to the same prompt shows how many tokens so many characters have; where
    the texts part, only about.
    """
    if answer.tokens is not None or not answer.text or not baseline.text:
        return
    alike = len(commonprefix([answer.text, baseline.text]))  # noqa: RUF071 - no paths
    other = (len(answer.text) - alike) * baseline.output_tokens / len(baseline.text)
    expected = _tokens_within(baseline, alike) + other
    # Tokens are of 4 ± 2 characters or so; the last one has none.
    apart = 0.0 if answer.text == baseline.text else _MISCOUNTED * expected + 2 * other**0.5
    if abs(answer.output_tokens - expected) > apart + 1:
        raise BadAnswerError(
            f"the server counted {answer.output_tokens} tokens, but by the baseline's server its "
            f"text has about {expected:.0f}: one of them counts tokens that it does not send"
        )


def _tokens_within(answer: Answer, characters: int) -> float:
    found = 0.0
    for length, tokens in zip(answer.chunk_characters, sizes(answer), strict=False):
        found += tokens * min(1.0, characters / length) if length else tokens
        characters -= length
        if characters <= 0:
            break
    return found
