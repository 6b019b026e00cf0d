"""The time after the first chunk counts only the later tokens."""

from dataclasses import replace
from typing import Any

import pytest

from harness.openai.clock import check_tokens, client_time, sizes, times_agree
from harness.openai.streamed_answer import Answer, ServerTimes
from harness.runners.http.values import BadAnswerError


def streamed(*lengths: int, tokens: int, **fields: Any) -> Answer:  # noqa: ANN401 - of `Answer`
    """An answer with chunks of these lengths: a second to the first, one more to the last."""
    return Answer(
        began_s=0.0,
        first_s=1.0,
        last_s=2.0,
        prompt_tokens=5,
        output_tokens=tokens,
        finish=fields.pop("finish", "length"),
        chunk_characters=lengths,
        text="x" * sum(lengths),
        **fields,
    )


def decode_ms(answer: Answer, longest: int = 1) -> tuple[float, float]:
    found = client_time(answer, longest=longest)
    assert found is not None
    return round(found.decode_ms, 1), round(found.grain_ms, 1)


def test_one_token_a_chunk_is_timed_exactly() -> None:
    assert decode_ms(streamed(*(9, 1, 5, 3), tokens=4)) == (1000.0, 0.0)


def test_tokens_of_the_first_chunk_are_not_timed() -> None:
    # 12 of 32 tokens at once, then 20 in a second: 31 take 1.55 seconds.
    shown = streamed(48, *[4] * 20, tokens=32)
    ids = replace(shown, tokens=(7,) * 32, chunk_tokens=(12, *[1] * 20), text="")

    assert decode_ms(shown) == decode_ms(ids) == (1550.0, 0.0)


def test_chunks_that_came_with_the_first_one_are_not_timed_either() -> None:
    # Three tokens of a round at once, then seven in a second: nine take 1.286 seconds.
    at_once = (1.0, 1.001, 1.002, 1.2, 1.3, 1.5, 1.6, 1.7, 1.9, 2.0)
    steady = tuple(1 + number / 9 for number in range(10))

    assert decode_ms(streamed(*[4] * 10, tokens=10, chunk_s=at_once)) == (1285.7, 0.0)
    assert decode_ms(streamed(*[4] * 10, tokens=10, chunk_s=steady)) == (1000.0, 0.0)


def test_a_chunk_that_is_longer_than_a_round_may_have_been_held_back() -> None:
    # One token, then three chunks of five: for a token of a chunk four others may have waited.
    answer = streamed(4, 20, 20, 20, tokens=16)

    assert decode_ms(answer, longest=5) == (1000.0, 0.0)
    assert decode_ms(answer, longest=3) == (1000.0, 266.7)  # 4 of 15 tokens


def test_the_token_that_ends_an_answer_is_without_text() -> None:
    assert [*sizes(streamed(4, 4, 4, tokens=4, finish="stop"))] == [1, 1, 1]


@pytest.mark.parametrize("lengths", [(128,), (128, 0)])
def test_an_answer_in_one_piece_has_no_time(lengths: tuple[int, ...]) -> None:
    at_once = replace(streamed(*lengths, tokens=32), last_s=1.0)

    assert client_time(at_once, longest=1) is None
    assert client_time(streamed(128, tokens=32), longest=1) is None


@pytest.mark.parametrize(
    ("decode", "prompt", "agrees"),
    [
        (1000.0, 990.0, True),  # both together are the wall
        (980.0, 0.0, True),  # the time after the first chunk
        (500.0, 1400.0, True),  # 5 % of the wall are missing, and a draft's reading may be
        (850.0, 400.0, None),
        (500.0, 990.0, None),
    ],
)
def test_a_servers_time_accounts_for_the_wall_or_fails(
    decode: float, prompt: float, *, agrees: bool | None
) -> None:
    answer = streamed(*[4] * 32, tokens=32)
    times = ServerTimes(decode_ms=decode, prompt_ms=prompt, worked_ms=decode + prompt)
    client = client_time(answer, longest=1)

    if agrees is None:
        with pytest.raises(BadAnswerError, match="leaves out some of the work"):
            times_agree(times, answer, client)
    else:
        assert times_agree(times, answer, client) is agrees


def test_less_than_50_ms_may_be_noise_but_prove_nothing() -> None:
    answer = replace(streamed(*[4] * 32, tokens=32), first_s=1.9)
    times = ServerTimes(decode_ms=60.0, prompt_ms=None, worked_ms=60.0)

    assert not times_agree(times, answer, client_time(answer, longest=1))


WORDS = "word " * 32


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        (WORDS, 32),
        (WORDS, 33),  # the end has no text
        (WORDS[:155] + "other", 36),  # 12 % more
        (WORDS[:80], 16),  # the beginning of the same text
        ("other" * 32, 40),  # another text may have shorter words
    ],
)
def test_a_count_that_fits_the_text_is_taken(text: str, counted: int) -> None:
    baseline = replace(streamed(*[5] * 32, tokens=32), text=WORDS)

    check_tokens(replace(baseline, text=text, output_tokens=counted), baseline)


@pytest.mark.parametrize(
    ("text", "counted"), [(WORDS, 34), (WORDS[:80], 34), ("other" * 32, 67), (WORDS, 16)]
)
def test_a_count_that_does_not_fit_the_text_is_refused(text: str, counted: int) -> None:
    baseline = replace(streamed(*[5] * 32, tokens=32), text=WORDS)

    with pytest.raises(
        BadAnswerError, match="one of the two servers counts tokens that it does not send"
    ):
        check_tokens(replace(baseline, text=text, output_tokens=counted), baseline)
