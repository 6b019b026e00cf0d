"""A stream becomes counts by the server and times by our clock, or it says what is missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.openai.clock import client_time
from harness.openai.streamed_answer import (
    ServerTimes,
    StreamedAnswer,
    events,
    margins_in,
    read,
    server_times,
)
from harness.runners.http.values import BadAnswerError

VLLM = Path(__file__).parents[2] / "captures" / "vllm"
ROLE = {"choices": [{"delta": {"role": "assistant", "content": ""}}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 4}}
ANSWER = StreamedAnswer(
    began_s=0.0, first_s=0.1, last_s=0.2, prompt_tokens=5, output_tokens=10, finish="length"
)


def said(text: str, finish: str | None = None, ids: list[int] | None = None) -> dict[str, Any]:
    """A chunk with content."""
    choice: dict[str, Any] = {"delta": {"content": text}, "finish_reason": finish}
    return {"choices": [{**choice, "token_ids": ids} if ids else choice]}


def read_at(*chunks: dict[str, Any]) -> StreamedAnswer:
    """Read chunks that arrive one second apart, the first one second after the request."""
    seconds = iter(range(1, 1000))
    return read(chunks, began_s=0.0, clock=lambda: float(next(seconds)))


def captured(name: str) -> StreamedAnswer:
    """A captured stream of vLLM 0.32, each line a second after the one before."""
    return read_at(*events((VLLM / name).read_bytes().splitlines(keepends=True)))


def test_decode_time_runs_from_the_first_content_to_the_last() -> None:
    made = read_at(ROLE, said("a"), said("b c"), said("", "length"), USAGE)
    thought = {"choices": [{"delta": {"reasoning_content": "hm"}}]}

    assert (made.first_s, made.last_s) == (2.0, 4.0)
    assert (made.prompt_tokens, made.output_tokens, made.finish) == (7, 4, "length")
    assert made.tokens is None
    assert read_at(ROLE, thought, said("a", "length"), USAGE).first_s == 2.0  # output, too


def test_a_single_token_that_shows_nothing_is_an_answer() -> None:
    one = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}

    made = read_at(ROLE, said("", "length"), one)

    assert (made.first_s, made.last_s, made.text) == (2.0, 2.0, "")
    found = client_time(made, longest=1)
    assert found is not None
    assert found.decode_ms == 0.0


def test_received_ids_are_the_tokens_if_their_number_matches() -> None:
    made = read_at(ROLE, said("a", ids=[5]), said("", ids=[6, 7]), said("b", "stop", [8]), USAGE)
    real = captured("none/chat.sse")

    assert (made.tokens, made.chunk_tokens, made.finish) == ((5, 6, 7, 8), (1, 2, 1), "stop")
    assert read_at(ROLE, said("a", "length", [5]), USAGE).tokens is None
    # No model has this many tokens, and a digest has no room for such an id.
    assert read_at(ROLE, said("abcd", "length", [5, 6, 7, 2**31]), USAGE).tokens is None
    assert len(real.tokens or ()) == real.output_tokens == 32
    assert len(real.prompt or ()) == real.prompt_tokens == 64
    assert set(real.chunk_tokens) == {1}


@pytest.mark.parametrize(
    ("chunks", "why"),
    [
        ([ROLE, USAGE], "returned no text"),
        ([said("a"), USAGE], "does not state why it ended"),
        ([said("a", "length")], "no usage"),
        ([said("a", "length"), {"usage": {**USAGE["usage"], "completion_tokens": 0}}], "no usage"),  # type: ignore[dict-item]
    ],
)
def test_what_is_missing_is_named(chunks: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(BadAnswerError, match=why):
        read_at(*chunks)


@pytest.mark.parametrize(
    "stream",
    [
        b'\xef\xbb\xbfdata: {"a": 1}\n\ndata: [DONE]\n\n',
        b'data: {\ndata:  "a":\ndata: 1}\n\ndata: [DONE]\n\n',
        b': keepalive\n\nid: 3\nretry: 10\nevent: message\ndata: {"a": 1}\n: keep\n\ndata: [DONE]',
        b'data:{"a": 1}\r\ndata: [DONE]\ndata: after\n',
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


TIMINGS = {"predicted_ms": 30.5, "prompt_ms": 9.25, "cache_n": 0}
METRICS = {"generation_time_ms": 40, "time_to_first_token_ms": 8.5}


@pytest.mark.parametrize(
    ("last", "salted", "times"),
    [
        ({"timings": TIMINGS}, False, (30.5, 9.25, 39.75)),
        # A prompt that a cache may have helped has no time.
        ({"timings": {**TIMINGS, "prompt_ms": 1.0, "cache_n": 6}}, False, (30.5, None, 31.5)),
        # mlx-vlm gives the first of the four tokens the mean time of the others.
        ({"timings": {**TIMINGS, "draft_kind": None}}, False, (22.875, 9.25, 32.125)),
        ({"metrics": METRICS}, True, (40.0, 8.5, 48.5)),
        ({"metrics": METRICS}, False, (40.0, None, 48.5)),
    ],
)
def test_server_times_are_read_if_stated(
    last: dict[str, Any], times: tuple[float, float | None, float], *, salted: bool
) -> None:
    decode_ms, prompt_ms, worked_ms = times

    assert server_times(
        read_at(said("a", "length"), {**USAGE, **last}), salted=salted
    ) == ServerTimes(decode_ms=decode_ms, prompt_ms=prompt_ms, worked_ms=worked_ms)
    assert server_times(read_at(said("a", "length"), USAGE), salted=salted) is None


def test_a_whole_answer_gives_margins_only_for_the_same_tokens() -> None:
    whole = json.loads((VLLM / "none" / "chat.json").read_text())
    tokens = tuple(whole["choices"][0]["token_ids"])
    whole["choices"][0]["logprobs"] = {
        "content": [{"top_logprobs": [{"logprob": -1.0}, {"logprob": -1.5}]} for _ in tokens]
    }

    assert margins_in(whole, tokens=tokens) == (0.5,) * len(tokens)
    assert margins_in(whole, tokens=(*tokens[:-1], 1)) is None
    assert margins_in({"choices": []}, tokens=tokens) is None
