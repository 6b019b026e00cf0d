"""What would this server say? Loopback stand-ins for the engines behind OpenAI's protocol.

vLLM and llama-server are shaped after real answers (vLLM 0.32, llama.cpp b10434). SGLang, LM Studio
and Ollama cannot be run here: theirs are written from their documentation and sources.

`python fake_server.py --port N --style vllm` is a server that a command starts.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Style = Literal["vllm", "sglang", "old-sglang", "lm-studio", "ollama", "llama-server", "plain"]
Fault = Literal[
    "cut", "malformed", "no-usage", "in-one-piece", "silent", "limited", "broken", "told-off",
    "miscounts", "overruns",
]  # fmt: skip
Json = dict[str, Any]

MODEL = "Tiny-1B-Instruct"
DRAFT = "tiny-draft"
PROMPT_TOKENS = 11
_OWNERS = {
    "vllm": "vllm",
    "sglang": "sglang",
    "old-sglang": "sglang",
    "lm-studio": "organization_owner",
    "ollama": "library",
    "llama-server": "llamacpp",
    "plain": "somebody",
}
_PAGES = {
    "vllm": {"/version": {"version": "0.32.0+cpu"}},
    "sglang": {"/server_info": {"version": "0.5.21"}},
    "old-sglang": {"/get_server_info": {"version": "0.5.9"}},
    "ollama": {"/api/version": {"version": "0.12.3"}},
    "llama-server": {"/props": {"build_info": "b10434-571d0d5"}},
    "lm-studio": {
        "/api/v0/models": {
            "data": [
                {"id": MODEL, "quantization": "Q4_K_M", "arch": "llama"},
                {"id": DRAFT, "quantization": "Q4_0", "arch": "llama"},
            ]
        }
    },
}


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How a stand-in behaves. With `depth` it speculates; `key` is the one that it wants."""

    style: Style = "vllm"
    depth: int = 0
    round_ms: float = 1.0
    per_request: bool = True
    metrics: bool = True
    times: bool = False
    version: str | None = None
    miscount: int = 0
    key: str | None = None
    fault: Fault | None = None
    models: tuple[str, ...] = (MODEL,)
    root: str | None = None
    software: str | None = None


@dataclass(kw_only=True)
class State:
    """What happened so far: requests as they came, and the counters of the metrics page."""

    behaviour: Behaviour
    bodies: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    steps: int = 0
    drafted: int = 0
    accepted: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A made-up generation: ids by round, and what was drafted. The text never depends on it."""

    rounds: tuple[tuple[int, ...], ...]
    accepted: tuple[int, ...]
    drafted: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token for part in self.rounds for token in part)


def answer(text: str, limit: int, depth: int) -> Answer:
    """The prompt's first token, then rounds that accept as chance has it; cut at the limit."""
    chance = random.Random(f"{text} {depth}")  # noqa: S311 - made-up data
    ids = random.Random(text)  # noqa: S311 - made-up data
    rounds, accepted = [(ids.randrange(5, 40_000),)], []
    while (left := limit - sum(map(len, rounds))) > 0:
        accepted.append(chance.randint(0, depth))
        length = min(accepted[-1] + 1, left)
        rounds.append(tuple(ids.randrange(5, 40_000) for _ in range(length)))
    drafted = (depth,) * len(accepted)
    return Answer(rounds=tuple(rounds), accepted=tuple(accepted), drafted=drafted)


class Handler(BaseHTTPRequestHandler):
    """Answers as the behaviour of its server says."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        behaviour = self.server.state.behaviour
        if self._refused():
            return
        pages = _PAGES.get(behaviour.style, {})
        if self.path == "/health" and behaviour.style not in ("ollama", "lm-studio"):
            self._send(200, {})
        elif self.path == "/v1/models":
            owner = _OWNERS[behaviour.style]
            names = (
                (*behaviour.models, DRAFT) if behaviour.style == "lm-studio" else behaviour.models
            )
            self._send(200, {"data": [_model(name, owner, behaviour) for name in names]})
        elif self.path in pages:
            said = {"version": behaviour.version} if behaviour.version else pages[self.path]
            self._send(200, said)
        elif self.path == "/metrics" and behaviour.metrics:
            self._send(200, page(self.server.state))
        else:
            self._send(404, {"error": {"message": "Not Found"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state = self.server.state
        if self._refused():
            return
        if body["model"] not in state.behaviour.models:
            said = f"The model `{body['model']}` does not exist."
            self._send(404, {"error": {"message": said, "code": 404}})
            return
        with state.lock:
            state.bodies.append(body)
            state.headers.append(dict(self.headers))
            state.in_flight += 1
            state.most_in_flight = max(state.most_in_flight, state.in_flight)
        try:
            self._answer(body)
        finally:
            with state.lock:
                state.in_flight -= 1

    def _answer(self, body: Json) -> None:
        state = self.server.state
        made = answer(body["messages"][0]["content"], body["max_tokens"], depth_of(state, body))
        with state.lock:
            state.steps += len(made.drafted)
            state.drafted += sum(made.drafted)
            state.accepted += sum(made.accepted)
        if state.behaviour.fault in _ANSWERS:
            self._send(*_ANSWERS[state.behaviour.fault])
        elif body.get("stream"):
            self._stream(body, made)
        else:
            self._send(200, whole(state, body, made))

    def _stream(self, body: Json, made: Answer) -> None:
        fault = self.server.state.behaviour.fault
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        chunks = list(stream(self.server.state, body, made))
        if fault == "silent":
            time.sleep(30)
        for number, chunk in enumerate(chunks):
            if chunk["choices"] and fault != "in-one-piece":
                time.sleep(self.server.state.behaviour.round_ms / 1000)
            if number == 3 and fault == "cut":
                return
            if number == 3 and fault == "malformed":
                self.wfile.write(b"data: {oops\n\n")
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")

    def _refused(self) -> bool:
        key = self.server.state.behaviour.key
        given = self.headers.get("Authorization")
        if key is None or given == f"Bearer {key}":
            return False
        self._send(401, {"error": {"message": f"Unauthorized: {given}"}})
        return True

    def _send(self, status: int, value: Json | str) -> None:
        data = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def version_string(self) -> str:
        """What stands in the header `Server`."""
        return self.server.state.behaviour.software or super().version_string()

    def log_message(self, *_: object) -> None:
        """Quiet."""


_ANSWERS: dict[str | None, tuple[int, Json]] = {
    "limited": (429, {"error": {"message": "Rate limit reached"}}),
    "broken": (500, {"error": {"message": "CUDA out of memory. Tried to allocate 2.00 GiB"}}),
    "told-off": (400, {"error": {"message": "This model's maximum context length is 64 tokens"}}),
}


class Server(ThreadingHTTPServer):
    """A stand-in on a free loopback port."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.state = State(behaviour=behaviour)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """A client that went away is no matter."""


@contextmanager
def serving(**behaviour: Any) -> Iterator[Server]:  # noqa: ANN401 - fields of `Behaviour`
    """A stand-in that runs until the block ends."""
    server = Server(Behaviour(**behaviour))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def depth_of(state: State, body: Json) -> int:
    """LM Studio drafts when the request names a draft model, the others as they were started."""
    if state.behaviour.style == "lm-studio":
        return 3 if body.get("draft_model") == DRAFT else 0
    return state.behaviour.depth


def stream(state: State, body: Json, made: Answer) -> Iterator[Json]:
    """The chunks of an answer, one for each round, and the last one with the counts."""
    ids = body.get("return_token_ids") and state.behaviour.style == "vllm"
    role: Json = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    yield {**role, "prompt_token_ids": list(range(PROMPT_TOKENS))} if ids else role
    rounds = made.rounds
    if state.behaviour.fault == "in-one-piece":
        rounds = (made.ids,)
    for number, part in enumerate(rounds):
        ended = number == len(rounds) - 1
        choice: Json = {
            "index": 0,
            "delta": {"content": " word" * len(part)},
            "finish_reason": "length" if ended else None,
        }
        yield {"choices": [{**choice, "token_ids": list(part)} if ids else choice]}
    if state.behaviour.fault != "no-usage":
        yield {"choices": [], "usage": usage(state, made), **beside(state, body, made)}


def whole(state: State, body: Json, made: Answer) -> Json:
    """An answer in one piece."""
    choice: Json = {"index": 0, "finish_reason": "length", "message": {"content": "words"}}
    if body.get("return_token_ids"):
        choice["token_ids"] = list(made.ids)
    if body.get("logprobs"):
        top = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -2.75}]
        choice["logprobs"] = {"content": [{"top_logprobs": top} for _ in made.ids]}
    if body.get("return_meta_info") and state.behaviour.style == "old-sglang" and made.drafted[0]:
        choice["meta_info"] = {
            "spec_verify_ct": len(made.drafted),
            "spec_draft_token_num": sum(made.drafted),
            "spec_accept_token_num": sum(made.accepted),
        }
    return {"choices": [choice], "usage": usage(state, made)}


def usage(state: State, made: Answer) -> Json:
    """Tokens as a server counts them."""
    said = len(made.ids) + {"miscounts": -1, "overruns": 1}.get(str(state.behaviour.fault), 0)
    return {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": said}


def beside(state: State, body: Json, made: Answer) -> Json:
    """What each engine adds to the counts."""
    depth, style = depth_of(state, body), state.behaviour.style
    if style == "llama-server":
        return {"timings": _timings(made)}
    times = {"generation_time_ms": 0.75 * len(made.drafted)} if state.behaviour.times else {}
    if not depth:
        return {"metrics": times} if times else {}
    drafted, accepted, steps = sum(made.drafted), sum(made.accepted), len(made.drafted)
    histogram = [made.accepted.count(length) for length in range(depth + 1)]
    if style == "vllm" and state.behaviour.per_request:
        return {
            "metrics": {
                **times,
                "speculative_decoding": {
                    "num_draft_tokens": drafted,
                    "num_accepted_draft_tokens": accepted,
                    "num_spec_steps": steps,
                    "num_spec_tokens": depth,
                    "acceptance_histogram": histogram,
                },
            }
        }
    if style == "sglang" and body.get("return_spec_tokens_details"):
        details = {
            "spec_num_proposed_drafts": drafted,
            "spec_num_correct_drafts": accepted,
            "spec_verify_ct": steps,
            "spec_correct_drafts_histogram": histogram,
        }
        return {"sglext": {"spec_tokens_details": details}}
    if style == "lm-studio":
        kept = len(made.ids) - 1 - steps
        stats = {"total_draft_tokens_count": drafted, "accepted_draft_tokens_count": kept}
        return {"stats": stats}
    return {}


def page(state: State) -> str:
    """The metrics page, as Prometheus reads it."""
    if state.behaviour.style == "vllm":
        prefix, names = "vllm:spec_decode_num", ("drafts", "draft_tokens", "accepted_tokens")
        lines = ["# HELP", "vllm:num_requests_running 0.0"]
    elif state.behaviour.style == "llama-server":
        prefix, names = "llamacpp:spec_decode", ("num_drafts", "draft_tokens", "accepted_tokens")
        lines = ["# HELP", "llamacpp:requests_processing 0"]
    else:
        return "sglang:spec_accept_rate 0.5\n"
    if state.behaviour.depth:
        miscounted = state.drafted + state.behaviour.miscount * len(state.bodies)
        values = (state.steps, miscounted, state.accepted)
        lines += [
            f"{prefix}_{name}_total {value}" for name, value in zip(names, values, strict=True)
        ]
    return "\n".join(lines) + "\n"


def _timings(made: Answer) -> Json:
    drafted = sum(made.drafted)
    drafts = {"draft_n": drafted, "draft_n_accepted": len(made.ids) - 1 - len(made.drafted)}
    return {
        "cache_n": 0,
        "prompt_n": PROMPT_TOKENS,
        "prompt_ms": 0.25,
        "predicted_n": len(made.ids),
        "predicted_ms": 0.5 * len(made.drafted),
        **(drafts if drafted else {}),
    }


def _model(name: str, owner: str, behaviour: Behaviour) -> Json:
    entry: Json = {"id": name, "object": "model", "owned_by": owner}
    if behaviour.style == "vllm":
        return {**entry, "root": behaviour.root or name, "max_model_len": 2048}
    if behaviour.style == "llama-server":
        meta = {"n_ctx": 4096, "n_params": 1_000_000_000, "size": 700_000_000, "ftype": "Q4_1"}
        return {**entry, "meta": {**meta, "n_vocab": 49_152}}
    return entry


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--style", default="vllm")
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--exit", action="store_true")
    options = parser.parse_args()
    if options.exit:
        sys.exit("ValueError: CUDA out of memory while loading the model")
    Server(Behaviour(style=options.style, depth=options.depth), options.port).serve_forever()


if __name__ == "__main__":
    main()
