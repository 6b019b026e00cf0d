"""Contradictory answers never become trials, and nothing that a server sends causes a traceback."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from harness.errors import BadInputError
from harness.openai import exchange
from harness.openai.draft_counts import in_answer
from harness.openai.listed_models import choose, quantisation, read_models
from harness.openai.streamed_answer import Answer, ServerTimes, read, server_times
from harness.runners.base import Generation, Totals
from harness.runners.http.counted_rounds import Counted, totals
from harness.runners.http.values import BadAnswerError

ANSWER = Answer(
    began_s=0.0, first_s=0.1, last_s=0.2, prompt_tokens=5, output_tokens=10, finish="length"
)
NUMBERS = some.sampled_from([-1, 0, 1, 2, 5, 9, 40, None, True, 1.5, "7", [], [1], [0, 2, 1]])
NAMES = (
    "num_draft_tokens", "num_accepted_draft_tokens", "num_spec_steps", "acceptance_histogram",
    "draft_n", "draft_n_accepted", "spec_num_proposed_drafts", "spec_num_correct_drafts",
    "spec_verify_ct", "predicted_ms", "prompt_ms", "cache_n", "generation_time_ms",
)  # fmt: skip
COUNTERS = some.dictionaries(some.sampled_from(NAMES), NUMBERS, max_size=6)
CHUNKS = some.lists(
    some.fixed_dictionaries(
        {
            "choices": some.one_of(
                NUMBERS,
                some.fixed_dictionaries({"delta": NUMBERS, "token_ids": NUMBERS}).map(
                    lambda choice: [choice]
                ),
            )
        },
        optional={
            "metrics": COUNTERS.map(
                lambda counters: {**counters, "speculative_decoding": counters}
            ),
            "timings": COUNTERS,
            "meta_info": COUNTERS,
            "usage": NUMBERS,
        },
    ),
    max_size=3,
)
USAGE = {"usage": {"prompt_tokens": 5, "completion_tokens": 7}}


@settings(max_examples=60)
@given(CHUNKS)
def test_any_stream_is_read_or_refused(chunks: list[dict[str, Any]]) -> None:
    ending: dict[str, Any] = {"choices": [{"delta": {"content": "."}, "finish_reason": "length"}]}
    ticks = iter(range(100))
    try:
        answer = read([*chunks, ending, USAGE], began_s=0.0, clock=lambda: float(next(ticks)))
    except BadAnswerError:
        return

    made = totals(
        decode_ms=1.0,
        output_tokens=answer.output_tokens,
        counted=in_answer(answer),
        chunk_tokens=answer.chunk_tokens if answer.tokens else (),
    )
    server_times(answer, salted=True)
    if made.rounds is not None:
        assert made.accepted is not None
        assert made.drafted is not None
        assert made.rounds >= 0
        assert 0 <= made.accepted <= made.drafted
        assert answer.output_tokens == 1 + made.accepted + made.rounds
        histogram = made.accepted_histogram
        assert histogram is None or sum(histogram) == made.rounds


@settings(max_examples=30)
@given(some.one_of(NUMBERS, COUNTERS))
def test_a_list_of_models_with_odd_entries_is_read(value: Any) -> None:  # noqa: ANN401 - anything of JSON
    listed = read_models({"data": [value, {"id": value}, {"id": "x", "meta": value}]})

    assert listed[-1].id == "x"
    with pytest.raises(BadInputError):
        choose(listed, "no such model", where="here")


def test_more_accepted_than_drafted_counts_something_else() -> None:
    timings = {"draft_n": 3, "draft_n_accepted": 4}

    assert in_answer(replace(ANSWER, extras={"timings": timings})) is None
    assert in_answer(replace(ANSWER, extras={"timings": {**timings, "draft_n": 4}})) == Counted(
        drafted=4, accepted=4
    )


def test_a_server_cannot_have_worked_longer_than_the_answer_took() -> None:
    fits = ServerTimes(decode_ms=90.0, prompt_ms=100.0, worked_ms=190.0)
    exchange.check_answer(ANSWER, fits, limit=10)
    with pytest.raises(BadAnswerError, match="states 210 ms of work, but its answer took only 2"):
        exchange.check_answer(ANSWER, replace(fits, worked_ms=210.0), limit=10)


def test_an_answer_cannot_be_longer_than_was_asked_for() -> None:
    with pytest.raises(BadAnswerError, match="counted 10 tokens, but 9 were requested"):
        exchange.check_answer(ANSWER, None, limit=9)


def test_rounds_cannot_draft_more_than_the_depth() -> None:
    drafting = Generation(
        tokens=None, counted_tokens=10, margins=None, prompt_tokens=5, prompt_sha256=None,
        prompt_ms=None, wall_ms=9.0, finish="length",
        rounds=Totals(decode_ms=5.0, rounds=3, drafted=12, accepted=6),
    )  # fmt: skip

    exchange.check_depth(drafting, stated=None, asked=4)
    exchange.check_depth(drafting, stated=4, asked=4)
    exchange.check_depth(drafting, stated=5, asked=None)
    with pytest.raises(BadAnswerError, match="12 tokens in 3 rounds, but the method has n_max=3"):
        exchange.check_depth(drafting, stated=None, asked=3)
    with pytest.raises(BadAnswerError, match="drafts up to 5 tokens, but the method has n_max=4"):
        exchange.check_depth(drafting, stated=5, asked=4)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Q4_K - Medium", "Q4_K_M"),
        ("Q5_K - Small", "Q5_K_S"),
        ("Q4_1", "Q4_1"),
        ("all F32", "F32"),
        ("IQ4_NL - 4.5 bpw", "IQ4_NL"),
        ("4bit", "4bit"),
        ("<b>", None),
        ("", None),
    ],
)
def test_a_quantisation_has_its_short_name(said: str, expected: str | None) -> None:
    assert quantisation(said) == expected
