"""Capture answers of a real vLLM for the tests.

    python -m tools.vllm.capture build/vllm [MODE ...]

Every request and its answer are kept as they went over the wire, per mode of speculation. Only the
counters are shortened: vLLM's own, without the buckets of histograms.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from tools.vllm.environment import MODEL, SPECULATION, ask, running

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CAPTURES = Path(__file__).parents[2] / "tests" / "captures" / "vllm"
# An answer that repeats its prompt, so that n-grams are found; and one that repeats nothing.
REPEATING = (
    "Continue this list without change: 1. red 2. green 3. blue 4. red 5. green 6. blue 7. red"
)
FRESH = "Repeat this list: red, green, blue, red, green, blue, red, green."
GREEDY = {"model": MODEL, "temperature": 0, "max_tokens": 32, "return_token_ids": True}
STREAMED = {"stream": True, "stream_options": {"include_usage": True}}


def main(build: Path, modes: Iterable[str]) -> None:
    for mode in modes:
        with running(build, mode) as base_url:
            warm_up(base_url)
            for name, request in requests_of(mode, prompt_tokens(base_url)).items():
                keep(CAPTURES / mode / name, base_url, request)


def requests_of(mode: str, tokens: list[int]) -> dict[str, dict[str, Any]]:
    """What is asked, by the file that keeps the answer; the counters stand around one request."""
    chat = {**GREEDY, "messages": user(REPEATING)}
    completion = {**GREEDY, "prompt": tokens, "ignore_eos": True}
    asked: dict[str, dict[str, Any]] = {
        "metrics_before.txt": {"path": "/metrics"},
        "completion.json": {"path": "/v1/completions", "body": completion},
        "metrics_after.txt": {"path": "/metrics"},
        "completion.sse": {"path": "/v1/completions", "body": completion | STREAMED},
        "chat.json": {"path": "/v1/chat/completions", "body": chat},
        "chat.sse": {"path": "/v1/chat/completions", "body": chat | STREAMED},
    }
    match mode:
        case "none":
            return asked | plain_requests(chat, completion)
        case "ngram":
            fresh = {"path": "/v1/chat/completions", "body": chat | {"messages": user(FRESH)}}
            return asked | {"chat_nothing_drafted.json": fresh}
        case _:
            return asked


def plain_requests(chat: Mapping[str, Any], completion: Mapping[str, Any]) -> dict[str, Any]:
    """What speculation does not change: what is there, how text becomes tokens, what is refused."""
    signs = user("Answer with these signs only: 🙂 🙃 é ü 漢字 🙂 🙃 é ü 漢字")
    return {
        "models.json": {"path": "/v1/models"},
        "version.json": {"path": "/version"},
        "tokenize_chat.json": {
            "path": "/tokenize",
            "body": {"model": MODEL, "messages": user(REPEATING)},
        },
        "detokenize.json": {
            "path": "/detokenize",
            "body": {"model": MODEL, "tokens": [504, 2966, 582]},
        },
        "chat_signs.sse": {
            "path": "/v1/chat/completions",
            "body": {**chat, **STREAMED, "messages": signs},
        },
        "chat_unasked_tokens.json": {
            "path": "/v1/chat/completions",
            "body": {name: chat[name] for name in chat if name != "return_token_ids"},
        },
        "error_too_long.json": {
            "path": "/v1/completions",
            "body": {**completion, "prompt": [504] * 3000},
        },
        "error_asks_too_much.json": {
            "path": "/v1/completions",
            "body": {**completion, "max_tokens": 5000},
        },
        "error_unknown_model.json": {
            "path": "/v1/completions",
            "body": {**completion, "model": "another"},
        },
        "error_unknown_token.json": {
            "path": "/v1/completions",
            "body": {**completion, "prompt": [999999]},
        },
        "error_no_prompt.json": {"path": "/v1/chat/completions", "body": {"model": MODEL}},
        "error_no_path.json": {"path": "/v1/nothing"},
    }


def keep(target: Path, base_url: str, request: Mapping[str, Any]) -> None:
    status, answer = ask(base_url, request)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(kept(request["path"], answer))
    asked = orjson.dumps({**request, "status": status}) + b"\n"
    target.with_name(f"{target.name}.request.json").write_bytes(asked)


def kept(path: str, answer: bytes) -> bytes:
    """What of an answer is worth keeping: all of it, but for the page of metrics."""
    if path != "/metrics":
        return answer
    return b"".join(filter(is_own_value, answer.splitlines(keepends=True)))


def warm_up(base_url: str) -> None:
    """The first answer also compiles kernels; its times and counters would mislead."""
    ask(
        base_url,
        {"path": "/v1/chat/completions", "body": {**GREEDY, "messages": user(REPEATING)}},
    )


def prompt_tokens(base_url: str) -> list[int]:
    asked = {"path": "/tokenize", "body": {"model": MODEL, "messages": user(REPEATING)}}
    tokens: list[int] = orjson.loads(ask(base_url, asked)[1])["tokens"]
    return tokens


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def is_own_value(line: bytes) -> bool:
    return b"vllm:" in line and b"_bucket{" not in line


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2:] or SPECULATION)
