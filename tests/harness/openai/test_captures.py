"""Captured answers of vLLM 0.32 are read correctly."""

import json
import re
from pathlib import Path

import pytest

from harness.openai.draft_counts import in_answer
from harness.openai.listed_models import Served, offer, read_models
from harness.openai.streamed_answer import Answer, events, margins_in, read, server_times
from harness.runners import failures
from harness.runners.http.client import Client, ServerAddress, ServerRefusedError, one_line
from harness.runners.http.counted_rounds import Counted, read_counters, totals
from harness.runners.http.session import failure_of

VLLM = Path(__file__).parents[2] / "captures" / "vllm"
CLIENT = Client(address=ServerAddress(host="127.0.0.1", port=8000), limit_s=1.0)


def stream(name: str) -> Answer:
    """A captured stream, each line a second after the one before."""
    lines = (VLLM / name).read_bytes().splitlines(keepends=True)
    seconds = iter(range(1, 1000))
    return read(events(lines), began_s=0.0, clock=lambda: float(next(seconds)))


def test_the_models_of_a_vllm_are_read() -> None:
    listed = read_models(json.loads((VLLM / "none" / "models.json").read_text()))

    name = "SmolLM2-135M-Instruct"
    assert listed == (Served(id=name, root=name, owner="vllm", context_tokens=2048),)


def test_a_plain_stream_has_ids_and_the_servers_times() -> None:
    answer = stream("none/chat.sse")

    assert answer.tokens is not None
    assert len(answer.tokens) == answer.output_tokens == 32
    assert answer.prompt is not None
    assert len(answer.prompt) == answer.prompt_tokens == 64
    assert set(answer.chunk_tokens) == {1}
    assert in_answer(answer) is None
    assert server_times(answer, salted=True) is not None


def test_a_speculating_stream_counts_its_drafts() -> None:
    assert in_answer(stream("ngram/chat.sse")) == Counted(
        drafted=60, accepted=11, steps=12, histogram=(1, 11), lengths=(5,) * 12, depth=5
    )


@pytest.mark.parametrize("name", ["ngram", "draft_model"])
def test_rounds_are_the_chunks_after_the_first(name: str) -> None:
    answer = stream(f"{name}/chat.sse")

    made = totals(
        decode_ms=1.0,
        output_tokens=answer.output_tokens,
        counted=in_answer(answer),
        chunk_tokens=answer.chunk_tokens,
    )

    # One engine alone sends every round in its own chunk.
    assert made.rounds == len(answer.chunk_tokens) - 1
    assert made.accepted is not None
    assert 1 + made.accepted + made.rounds == answer.output_tokens
    lengths = [size - 1 for size in answer.chunk_tokens[1:]]
    assert made.accepted_histogram == tuple(
        lengths.count(length) for length in range(max(lengths) + 1)
    )
    assert made.drafted_histogram is not None
    assert sum(made.drafted_histogram) == made.rounds
    drafted = sum(length * count for length, count in enumerate(made.drafted_histogram))
    assert drafted == made.drafted


@pytest.mark.parametrize("name", ["ngram", "draft_model"])
def test_the_metrics_page_counted_what_the_answer_says(name: str) -> None:
    folder = VLLM / name
    before = read_counters((folder / "metrics_before.txt").read_text())
    after = read_counters((folder / "metrics_after.txt").read_text())
    answer = json.loads((folder / "completion.json").read_text())
    said = answer["metrics"]["speculative_decoding"]

    assert before is not None
    assert after is not None
    page = after.since(before)
    assert (page.drafted, page.accepted, page.steps) == (
        said["num_draft_tokens"],
        said["num_accepted_draft_tokens"],
        said["num_spec_steps"],
    )


def test_a_plain_server_has_no_counters_on_its_page() -> None:
    page = (VLLM / "none" / "metrics_after.txt").read_text()

    assert read_counters(page) is None
    assert "\nvllm:" in page


def test_a_whole_answer_gives_margins_only_for_the_same_tokens() -> None:
    whole = json.loads((VLLM / "none" / "chat.json").read_text())
    tokens = tuple(whole["choices"][0]["token_ids"])
    whole["choices"][0]["logprobs"] = {
        "content": [{"top_logprobs": [{"logprob": -1.0}, {"logprob": -1.5}]} for _ in tokens]
    }

    assert margins_in(whole, tokens=tokens) == (0.5,) * len(tokens)
    assert margins_in(whole, tokens=(*tokens[:-1], 1)) is None
    assert margins_in({"choices": []}, tokens=tokens) is None


@pytest.mark.parametrize(
    ("name", "status", "reason", "said"),
    [
        ("too_long", 400, "context-too-small", "maximum context length is 2048 tokens"),
        ("unknown_model", 404, "bad-answer", "it offers SmolLM2: choose with --served-model"),
        ("asks_too_much", 400, "bad-answer", "max_tokens=5000 cannot be greater"),
        ("no_path", 404, "bad-answer", "correct the URL"),
    ],
)
def test_a_refusal_by_vllm_becomes_a_reason_with_a_remedy(
    name: str, status: int, reason: str, said: str
) -> None:
    text = (VLLM / "none" / f"error_{name}.json").read_text()
    error = ServerRefusedError(status, one_line(text))

    failure = failure_of(error, CLIENT, offers=offer((Served(id="SmolLM2"),)))

    assert failure.reason == reason
    assert said in failure.detail


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("vocabulary_mismatch", "vocabulary-mismatch", "should have the same vocabulary size"),
        ("too_little_memory", "out-of-memory", "kv cache allocation is less than requested"),
        ("port_taken", "load-failed", "Address already in use"),
        ("no_such_draft", "load-failed", "Invalid repository ID or local directory"),
    ],
)
def test_the_log_of_a_vllm_that_did_not_start_says_why(name: str, reason: str, said: str) -> None:
    text = (VLLM / "start" / f"{name}.log").read_text()

    failure = failures.failure_in_log(text, otherwise="crashed", what="vllm ended with exit code 1")

    assert failure.reason == reason
    assert re.search(said, failure.detail)
    assert "\n" not in failure.detail
