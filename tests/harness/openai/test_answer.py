"""A stream becomes counts by the server and times by our clock, or it says what is missing."""

import json
from typing import Any

import pytest

from harness.openai.clock import client_time
from harness.openai.streamed_answer import Answer, ServerTimes, events, read, server_times
from harness.runners.http.values import BadAnswerError

ROLE = {"choices": [{"delta": {"role": "assistant", "content": ""}}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 4}}


def said(text: str, finish: str | None = None, ids: list[int] | None = None) -> dict[str, Any]:
    """A chunk with content."""
    choice: dict[str, Any] = {"delta": {"content": text}, "finish_reason": finish}
    return {"choices": [{**choice, "token_ids": ids} if ids else choice]}


def read_at(*chunks: dict[str, Any]) -> Answer:
    """Read chunks that arrive one second apart, the first one second after the request."""
    seconds = iter(range(1, 100))
    return read(chunks, began_s=0.0, clock=lambda: float(next(seconds)))


def test_decode_time_runs_from_the_first_content_to_the_last() -> None:
    made = read_at(ROLE, said("a"), said("b c"), said("", "length"), USAGE)

    assert (made.first_s, made.last_s) == (2.0, 4.0)
    assert (made.prompt_tokens, made.output_tokens, made.finish) == (7, 4, "length")
    assert made.tokens is None


def test_a_single_token_that_shows_nothing_is_an_answer() -> None:
    one = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}

    made = read_at(ROLE, said("", "length"), one)

    assert (made.first_s, made.last_s, made.text) == (2.0, 2.0, "")
    found = client_time(made, longest=1)
    assert found is not None
    assert found.decode_ms == 0.0


def test_received_ids_are_the_tokens_if_their_number_matches() -> None:
    made = read_at(ROLE, said("a", ids=[5]), said("", ids=[6, 7]), said("b", "stop", [8]), USAGE)

    assert made.tokens == (5, 6, 7, 8)
    assert made.chunk_tokens == (1, 2, 1)
    assert made.finish == "stop"
    assert read_at(ROLE, said("a", "length", [5]), USAGE).tokens is None
    # No model has this many tokens, and a digest has no room for such an id.
    assert read_at(ROLE, said("abcd", "length", [5, 6, 7, 2**31]), USAGE).tokens is None


def test_reasoning_is_output_too() -> None:
    thought = {"choices": [{"delta": {"reasoning_content": "hm"}}]}

    assert read_at(ROLE, thought, said("a", "length"), USAGE).first_s == 2.0


@pytest.mark.parametrize(
    ("chunks", "why"),
    [
        ([ROLE, USAGE], "returned no text"),
        ([said("a"), USAGE], "does not state why it ended"),
        ([said("a", "length")], "no usage"),
        (
            [said("a", "length"), {"usage": {"prompt_tokens": 7, "completion_tokens": 0}}],
            "no usage",
        ),
    ],
)
def test_what_is_missing_is_named(chunks: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(BadAnswerError, match=why):
        read_at(*chunks)


def test_events_are_read_between_comments_and_blank_lines() -> None:
    lines = [b": hello\n", b"event: message\n", b'data: {"a": 1}\r\n', b"\n", b'data:{"a":2}\n',
             b"data: [DONE]\n", b"data: after\n"]  # fmt: skip

    assert list(events(lines)) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "stream",
    [
        b'\xef\xbb\xbfdata: {"a": 1}\n\ndata: [DONE]\n\n',
        b'data: {\ndata:  "a":\ndata: 1}\n\ndata: [DONE]\n\n',
        b': keepalive\n\nid: 3\nretry: 10\ndata: {"a": 1}\n: keepalive\n\ndata: [DONE]\n\n',
        b'data: {"a": 1}\ndata: [DONE]',
    ],
    ids=["byte-order mark", "several lines", "comments and fields", "no blank lines"],
)
def test_every_legal_form_of_an_event_is_read(stream: bytes) -> None:
    assert list(events(stream.splitlines())) == [{"a": 1}]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"data: {oops", "not JSON: {oops"),
        (b"data: " + b"[" * 100_000, r"not JSON: \[\["),
        (b"data: [1]", "not a JSON object"),
        (b'data: {"error": {"message": "engine\\ndied"}}', "reported an error: engine died"),
        (b'data: {"a": 1}', "cut off before its end"),
    ],
)
def test_a_broken_stream_says_how_it_is_broken(line: bytes, why: str) -> None:
    with pytest.raises(BadAnswerError, match=why):
        list(events([line]))


def test_server_times_are_read_if_stated() -> None:
    last = {"timings": {"predicted_ms": 30.5, "prompt_ms": 9.25, "cache_n": 0}}
    llama = read_at(said("a", "length"), {**USAGE, **last})
    metrics = {"generation_time_ms": 40, "time_to_first_token_ms": 8.5}
    vllm = read_at(said("a", "length"), {**USAGE, "metrics": metrics})
    # It gives the first of the four tokens the mean time of the others.
    mlx = read_at(
        said("a", "length"), {**USAGE, "timings": {**last["timings"], "draft_kind": None}}
    )

    assert server_times(llama, salted=False) == ServerTimes(
        decode_ms=30.5, prompt_ms=9.25, worked_ms=39.75
    )
    assert server_times(mlx, salted=False) == ServerTimes(
        decode_ms=22.875, prompt_ms=9.25, worked_ms=32.125
    )
    assert server_times(vllm, salted=True) == ServerTimes(
        decode_ms=40.0, prompt_ms=8.5, worked_ms=48.5
    )
    assert server_times(read_at(said("a", "length"), USAGE), salted=True) is None


def test_a_prompt_that_a_cache_may_have_helped_has_no_time() -> None:
    cached = {"timings": {"predicted_ms": 30.5, "prompt_ms": 1.0, "cache_n": 6}}
    llama = read_at(said("a", "length"), {**USAGE, **cached})
    metrics = {"generation_time_ms": 40, "time_to_first_token_ms": 8.5}
    vllm = read_at(said("a", "length"), {**USAGE, "metrics": metrics})

    assert server_times(llama, salted=False) == ServerTimes(
        decode_ms=30.5, prompt_ms=None, worked_ms=31.5
    )
    assert server_times(vllm, salted=False) == ServerTimes(
        decode_ms=40.0, prompt_ms=None, worked_ms=48.5
    )


def test_the_json_of_a_chunk_may_be_anything() -> None:
    odd: list[Any] = [
        {"choices": "none"}, {"choices": [3]}, {"choices": [{"delta": [], "token_ids": ["x"]}]},
        {"usage": "many"}, {"timings": 3},
    ]  # fmt: skip

    made = read_at(*odd, said("a", "length"), USAGE)

    assert made.output_tokens == 4
    assert server_times(made, salted=False) is None
    assert json.dumps(dict(made.usage))
