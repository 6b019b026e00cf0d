"""The time after the first chunk counts only the later tokens, and contradictions are refused."""

from dataclasses import replace
from typing import Any

import pytest

from harness.openai import exchange
from harness.openai.clock import check_tokens, client_time, sizes, times_agree
from harness.openai.streamed_answer import ServerTimes, StreamedAnswer
from harness.runners.base import Generation, Totals
from harness.runners.http.values import BadAnswerError


def streamed(*lengths: int, tokens: int, **fields: Any) -> StreamedAnswer:  # noqa: ANN401 - of `StreamedAnswer`
    """An answer with chunks of these lengths: a second to the first, one more to the last."""
    return StreamedAnswer(
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


AT_ONCE = (1.0, 1.001, 1.002, 1.2, 1.3, 1.5, 1.6, 1.7, 1.9, 2.0)
STEADY = tuple(1 + number / 9 for number in range(10))


@pytest.mark.parametrize(
    ("answer", "longest", "timed"),
    [
        (streamed(9, 1, 5, 3, tokens=4), 1, (1000.0, 0.0)),
        # 12 of 32 tokens at once, then 20 in a second: 31 take 1.55 seconds.
        (streamed(48, *[4] * 20, tokens=32), 1, (1550.0, 0.0)),
        (
            replace(
                streamed(48, *[4] * 20, tokens=32),
                tokens=(7,) * 32, chunk_tokens=(12, *[1] * 20), text="",
            ),
            1,
            (1550.0, 0.0),
        ),
        # Three tokens of a round at once, then seven in a second: nine take 1.286 seconds.
        (streamed(*[4] * 10, tokens=10, chunk_s=AT_ONCE), 1, (1285.7, 0.0)),
        (streamed(*[4] * 10, tokens=10, chunk_s=STEADY), 1, (1000.0, 0.0)),
        # A chunk that is longer than a round may have been held back: one token, then three chunks
        # of five, so for a token of a chunk four others may have waited: 4 of 15 tokens.
        (streamed(4, 20, 20, 20, tokens=16), 5, (1000.0, 0.0)),
        (streamed(4, 20, 20, 20, tokens=16), 3, (1000.0, 266.7)),
    ],
)  # fmt: skip
def test_only_tokens_after_the_first_chunk_are_timed(
    answer: StreamedAnswer, longest: int, timed: tuple[float, float]
) -> None:
    found = client_time(answer, longest=longest)

    assert found is not None
    assert (round(found.decode_ms, 1), round(found.grain_ms, 1)) == timed


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
    ("text", "counted", "fits"),
    [
        (WORDS, 32, True),
        (WORDS, 33, True),  # the end has no text
        (WORDS, 34, False),
        (WORDS, 16, False),
        (WORDS[:155] + "other", 36, True),  # 12 % more
        (WORDS[:80], 16, True),  # the beginning of the same text
        (WORDS[:80], 34, False),
        ("other" * 32, 40, True),  # another text may have shorter words
        ("other" * 32, 67, False),
    ],
)
def test_a_count_must_fit_the_text(text: str, counted: int, *, fits: bool) -> None:
    baseline = replace(streamed(*[5] * 32, tokens=32), text=WORDS)
    answer = replace(baseline, text=text, output_tokens=counted)

    if fits:
        check_tokens(answer, baseline)
        return
    with pytest.raises(
        BadAnswerError, match="one of the two servers counts tokens that it does not send"
    ):
        check_tokens(answer, baseline)


def test_a_server_cannot_have_worked_longer_than_the_answer_took() -> None:
    answer = replace(streamed(tokens=10), last_s=0.2)
    fits = ServerTimes(decode_ms=90.0, prompt_ms=100.0, worked_ms=190.0)

    exchange.check_answer(answer, fits, limit=10)
    with pytest.raises(BadAnswerError, match="states 210 ms of work, but its answer took only 2"):
        exchange.check_answer(answer, replace(fits, worked_ms=210.0), limit=10)


@pytest.mark.parametrize(
    ("stated", "asked", "said"),
    [
        (None, 4, None),
        (4, 4, None),
        (5, None, None),
        (None, 3, "12 tokens in 3 rounds, but the method has n_max=3"),
        (5, 4, "drafts up to 5 tokens, but the method has n_max=4"),
    ],
)
def test_rounds_cannot_draft_more_than_the_depth(
    stated: int | None, asked: int | None, said: str | None
) -> None:
    drafting = Generation(
        tokens=None, counted_tokens=10, margins=None, prompt_tokens=5, prompt_sha256=None,
        prompt_ms=None, wall_ms=9.0, finish="length",
        rounds=Totals(decode_ms=5.0, rounds=3, drafted=12, accepted=6),
    )  # fmt: skip

    if said is None:
        exchange.check_depth(drafting, stated=stated, asked=asked)
        return
    with pytest.raises(BadAnswerError, match=said):
        exchange.check_depth(drafting, stated=stated, asked=asked)
