"""Invented answers in the shape of each engine behind OpenAI's protocol.

vLLM, llama-server and mlx-lm are shaped after real answers (vLLM 0.32, llama.cpp b10434, mlx-lm
0.32.2). SGLang, LM Studio and Ollama cannot be run here: theirs are written from their
documentation and sources.
"""

import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.harness.openai.deliveries import Delivery
from tests.processes import PATIENCE_S

Style = Literal[
    "vllm", "sglang", "lm-studio", "ollama", "llama-server", "mlx-lm", "plain",
]  # fmt: skip
Fault = Literal["malformed", "in-one-piece", "silent", "limited", "broken", "told-off", "overruns"]
Json = dict[str, Any]

MODEL = "Tiny-1B-Instruct"
DRAFT = "tiny-draft"
PROMPT_TOKENS = 11
_SHORT_WORDS = 60
FINGERPRINT = "0.32.2-0.32.4-Linux-6.18.44-fc-v669-x86_64-with-glibc2.36-x86_64"
_OWNERS = {
    "vllm": "vllm",
    "sglang": "sglang",
    "lm-studio": "organization_owner",
    "ollama": "library",
    "llama-server": "llamacpp",
    "plain": "somebody",
}
_PAGES: dict[str, dict[str, Json | str]] = {
    "vllm": {"/version": {"version": "0.32.0+cpu"}},
    "sglang": {"/server_info": {"version": "0.5.21"}},
    "ollama": {"/api/version": {"version": "0.12.3"}},
    "llama-server": {"/props": {"build_info": "b10434-571d0d5"}},
}


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """The behaviour of a stand-in. With `depth` it speculates; `key` is its required key.

    A round takes `round_ms` and yields `yields` tokens, or a random number; `delivery` decides when
    they are sent. `stated` is the share of its own time that it states. It reports its token count
    times `counts`. Of `hidden` reasoning tokens it reports only with `admits`. Its first `short`
    words have one letter. A round drafts a tree of `nodes` tokens instead of `depth` ones.

    An mlx-lm takes `cached` tokens of each prompt from its cache.

    Requests after the first `alone` ones wait for each other, until two were in flight at once.
    `named` is the model in its chunks. Its text differs from word `parts_at` on. With `calls` it
    writes tool calls, and may lose a quote in every second answer. `shows` is Ollama's description
    of each model, and `drafts` are those that LM Studio lists.
    """

    style: Style = "vllm"
    depth: int = 0
    nodes: int | None = None
    round_ms: float = 1.0
    per_request: bool = True
    times: bool = False
    version: str | None = None
    miscount: int = 0
    key: str | None = None
    fault: Fault | None = None
    models: tuple[str, ...] = (MODEL,)
    root: str | None = None
    software: str | None = None
    drafts: tuple[str, ...] = (DRAFT,)
    named: str | None = None
    parts_at: int | None = None
    alone: int | None = None
    delivery: Delivery = field(default_factory=Delivery)
    yields: int | None = None
    stated: float = 1.0
    counts: float = 1.0
    hidden: int = 0
    admits: bool = False
    short: int = 0
    calls: Literal["sound", "corrupt"] | None = None
    shows: Json = field(default_factory=dict)
    cached: int = 0


@dataclass(kw_only=True)
class State:
    """The requests so far, and the counters of the metrics page."""

    behaviour: Behaviour
    bodies: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    steps: int = 0
    drafted: int = 0
    accepted: int = 0
    stated_ms: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    met: threading.Event = field(default_factory=threading.Event)

    def arrived(self, body: Json, headers: dict[str, str]) -> None:
        """A request came in."""
        with self.lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            if self.in_flight > 1:
                self.met.set()
            # Requests for one token come one by one at any concurrency.
            several = isinstance(body, dict) and body.get("max_tokens") != 1
            alone = self.behaviour.alone
            waits = several and alone is not None and len(self.bodies) > alone
        if waits:
            self.met.wait(PATIENCE_S)

    def leaves(self) -> None:
        """Note an answered request, before its last byte: the client then sends the next one."""
        with self.lock:
            self.in_flight -= 1


@dataclass(frozen=True, kw_only=True)
class FakeAnswer:
    """A fake generation: ids by round, and what was drafted. The text never depends on it."""

    rounds: tuple[tuple[int, ...], ...]
    accepted: tuple[int, ...]
    drafted: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token for part in self.rounds for token in part)


def answer(text: str, limit: int, depth: int, yields: int | None = None) -> FakeAnswer:
    """The first token, then rounds with random acceptance, cut at the limit."""
    chance = random.Random(f"{text} {depth}")  # noqa: S311 - simulated data
    ids = random.Random(text)  # noqa: S311 - simulated data
    rounds, accepted = [(ids.randrange(5, 40_000),)], []
    while (left := limit - sum(map(len, rounds))) > 0:
        accepted.append(chance.randint(0, depth) if yields is None else yields - 1)
        length = min(accepted[-1] + 1, left)
        rounds.append(tuple(ids.randrange(5, 40_000) for _ in range(length)))
    drafted = (depth,) * len(accepted)
    return FakeAnswer(rounds=tuple(rounds), accepted=tuple(accepted), drafted=drafted)


def depth_of(state: State, body: Json) -> int:
    """The draft depth of a request: in LM Studio only if the request names a draft model."""
    if state.behaviour.style == "lm-studio":
        return 3 if body.get("draft_model") == DRAFT else 0
    return state.behaviour.depth


def stream(
    state: State, body: Json, made: FakeAnswer, rounds: Sequence[tuple[int, ...]]
) -> Iterator[Json]:
    """The chunks of an answer, usually one for each round, and the last one with the counts."""
    ids = body.get("return_token_ids") and state.behaviour.style == "vllm"
    role: Json = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    yield {**role, "prompt_token_ids": list(range(PROMPT_TOKENS))} if ids else role
    if state.behaviour.fault == "in-one-piece":
        rounds = (made.ids,)
    written, began = 0, 0.0
    for number, part in enumerate(rounds):
        ended = number == len(rounds) - 1
        choice: Json = {
            "index": 0,
            "delta": {"content": _words(written, len(part), state)},
            "finish_reason": "length" if ended else None,
        }
        written += len(part)
        named = {"model": state.behaviour.named} if state.behaviour.named else {}
        yield {**named, "choices": [{**choice, "token_ids": list(part)} if ids else choice]}
        began = began or time.perf_counter()
    state.stated_ms = (time.perf_counter() - began) * 1000 * state.behaviour.stated
    yield {"choices": [], "usage": usage(state, made), **beside(state, body, made)}


def _words(start: int, count: int, state: State) -> str:
    """A number of words of the text from a given one."""
    behaviour = state.behaviour
    if behaviour.calls is not None:
        broken = behaviour.calls == "corrupt" and len(state.bodies) % 2 == 0
        call = '{"name": "set_lamp", "arguments": {"lamp": "desk", "brightness_percent": 20}}, '
        text = "[" + (call.replace('"desk"', '"desk') if broken else call) * 99
        return text[8 * start : 8 * (start + count)]
    parts_at = behaviour.parts_at
    words = []
    for at in range(start, start + count):
        other = parts_at is not None and at >= parts_at
        words.append("a" if at < behaviour.short else " other" if other else " word")
    return "".join(words)


def whole(state: State, body: Json, made: FakeAnswer) -> Json:
    """An answer in one piece."""
    choice: Json = {"index": 0, "finish_reason": "length", "message": {"content": "words"}}
    if body.get("return_token_ids"):
        choice["token_ids"] = list(made.ids)
    if body.get("logprobs"):
        top = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -2.75}]
        choice["logprobs"] = {"content": [{"top_logprobs": top} for _ in made.ids]}
    signed = {"system_fingerprint": FINGERPRINT} if state.behaviour.style == "mlx-lm" else {}
    return {"choices": [choice], "usage": usage(state, made), **signed}


def prompt_tokens(state: State) -> int:
    """A token for each word of a long prompt, and always the same few for a short one."""
    words = len(state.bodies[-1]["messages"][-1]["content"].split())
    return words if words > _SHORT_WORDS else PROMPT_TOKENS


def usage(state: State, made: FakeAnswer) -> Json:
    """Tokens as a server counts them."""
    said = len(made.ids) + (state.behaviour.fault == "overruns")
    said = round(said * state.behaviour.counts)
    admitted = {"completion_tokens_details": {"reasoning_tokens": state.behaviour.hidden}}
    details = {"prompt_tokens_details": {"cached_tokens": state.behaviour.cached}}
    return {
        "prompt_tokens": prompt_tokens(state),
        "completion_tokens": said,
        **(details if state.behaviour.style == "mlx-lm" else {}),
        **(admitted if state.behaviour.admits else {}),
    }


def beside(state: State, body: Json, made: FakeAnswer) -> Json:
    """The fields that each engine adds to the counts."""
    depth, style = depth_of(state, body), state.behaviour.style
    if style == "llama-server":
        return {"timings": _timings(made, state.stated_ms)}
    times = {"generation_time_ms": state.stated_ms} if state.behaviour.times else {}
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
            "spec_num_proposed_drafts": steps * (state.behaviour.nodes or depth),
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


def _timings(made: FakeAnswer, stated_ms: float) -> Json:
    drafted = sum(made.drafted)
    drafts = {"draft_n": drafted, "draft_n_accepted": len(made.ids) - 1 - len(made.drafted)}
    return {
        "cache_n": 0,
        "prompt_n": PROMPT_TOKENS,
        "prompt_ms": 0.25,
        "predicted_n": len(made.ids),
        "predicted_ms": stated_ms,
        **(drafts if drafted else {}),
    }


def pages_of(behaviour: Behaviour) -> dict[str, Json | str]:
    """The answers of a stand-in at its addresses, except for the metrics."""
    if behaviour.style == "mlx-lm":  # as it answers where there is no hub cache
        return {"/v1/models": "", "/health": {}}
    pages = {**_PAGES.get(behaviour.style, {})}
    names = behaviour.models
    if behaviour.style == "lm-studio":
        names += behaviour.drafts
        facts = {"quantization": "Q4_K_M", "arch": "llama"}
        pages["/api/v0/models"] = {"data": [{"id": name, **facts} for name in names]}
    pages["/v1/models"] = {"data": [_model(name, behaviour) for name in names]}
    if behaviour.style not in ("ollama", "lm-studio"):
        pages["/health"] = {}
    if behaviour.version:
        pages["/version"] = {"version": behaviour.version}
    return pages


def _model(name: str, behaviour: Behaviour) -> Json:
    entry: Json = {"id": name, "object": "model", "owned_by": _OWNERS[behaviour.style]}
    if behaviour.style == "vllm":
        return {**entry, "root": behaviour.root or name, "max_model_len": 2048}
    if behaviour.style == "llama-server":
        sizes = {"n_params": 1_000_000_000, "size": 700_000_000, "n_vocab": 49_152}
        return {**entry, "meta": {"n_ctx": 4096, "ftype": "Q4_1", **sizes}}
    return entry
