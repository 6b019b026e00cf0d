"""Does a forced arm cost what a real draft of the same depth costs, on a server?

`python -m bench.forced --server PATH` starts three llama.cpp servers: plain, with a real
draft, and with the same draft and its tokens per round as the set length. They answer the same
prompts one after another in random order, block by block. Both clocks are printed: the server's own
times, and the processor time of its threads, which other programs on the machine do not stretch.
With `--vllm build/vllm` the servers are vLLM's, of which only the first clock is known.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from harness.campaign import suite
from harness.models.resolve import resolve
from harness.runners.base import Failure
from harness.runners.http.client import Address, Client
from harness.runners.http.process import ServerProcess, free_port, start_ready
from tests.vllm.environment import MODEL, SPECULATION, ask, running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.codec import Json

NS_PER_MS = 1e6
READY_S, ANSWER_S = 120.0, 600.0
TARGET, DRAFT = "smollm2-135m:f16", "smollm2-135m:q4_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer by both clocks; its prompt was read before."""

    wall_ms: float
    cpu_ms: float | None
    tokens: int
    rounds: int
    drafted: int


class Asked(Protocol):
    """A server with one way of drafting."""

    def answer(self, prompt: str, tokens: int) -> Answer:
        """Greedy, to the full length."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Vllm:
    """A vLLM that runs; it times what follows the first token by itself."""

    base_url: str

    def answer(self, prompt: str, tokens: int) -> Answer:
        """Greedy, to the full length."""
        body = {"model": MODEL, "prompt": prompt, "temperature": 0, "max_tokens": tokens}
        asked = {"path": "/v1/completions", "body": {**body, "ignore_eos": True}}
        found = json.loads(ask(self.base_url, asked)[1])
        written, metrics = found["usage"]["completion_tokens"] - 1, found["metrics"]
        counted = metrics["speculative_decoding"] or {}
        return Answer(
            wall_ms=metrics["generation_time_ms"],
            cpu_ms=None,
            tokens=written,
            rounds=counted.get("num_spec_steps", written),
            drafted=counted.get("num_draft_tokens", 0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaServer:
    """A llama.cpp server with its own process."""

    process: ServerProcess
    client: Client

    def answer(self, prompt: str, tokens: int) -> Answer:
        """Greedy, to the full length, from a prompt that the server holds already."""
        question: dict[str, Json] = {
            "prompt": prompt,
            "temperature": 0,
            "top_k": 1,
            "samplers": ["top_k"],
            "cache_prompt": True,
            "ignore_eos": True,
        }
        self.client.post("/completion", {**question, "n_predict": 1})
        before = self._cpu_ms()
        found: Any = self.client.post("/completion", {**question, "n_predict": tokens})
        times = found["timings"]
        written = times["predicted_n"] - 1
        return Answer(
            wall_ms=times["predicted_ms"],
            cpu_ms=self._cpu_ms() - before,
            tokens=written,
            rounds=written - times.get("draft_n_accepted", 0),
            drafted=times.get("draft_n", 0),
        )

    def _cpu_ms(self) -> float:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / NS_PER_MS


def serve(program: Path, drafting: Sequence[str]) -> LlamaServer:
    """A server of the target on one thread. Raises `SystemExit` when it does not start."""
    port = free_port()
    client = Client(address=Address(host="127.0.0.1", port=port), limit_s=ANSWER_S)
    words = ["-m", file_of(TARGET), "--host", "127.0.0.1", "--port", str(port)]
    words += ["-a", "m", "-c", "2048", "-np", "1", "-t", "1", "-tb", "1", "-b", "512", "-ub", "512"]
    words += ["-ngl", "0", "--cache-ram", "0", *drafting]
    started = start_ready(
        program, words, port=port, limit_s=READY_S, ask=lambda: client.get("/health")
    )
    if isinstance(started, Failure):
        sys.exit(started.detail)
    return LlamaServer(process=started, client=client)


def drafting(depth: int, length: float | None = None) -> list[str]:
    """The words for a draft of a depth, its acceptance set where a length is given."""
    words = ["-md", file_of(DRAFT), "-ngld", "0", "--spec-type", "draft-simple"]
    words += ["--spec-draft-n-max", str(depth), "--spec-draft-n-min", "0"]
    words += ["--spec-draft-p-min", "0"]
    return words if length is None else [*words, "--spec-synth-len", f"{length:g}"]


def file_of(model: str) -> str:
    """The file of a model that needs no download."""
    return str(resolve(model, say=lambda _text: None).path)


def lines(rows: Sequence[dict[str, Answer]]) -> list[str]:
    """R of both arms and their ratio by both clocks, and what the counters say."""
    found = []
    for clock in ("wall_ms", "cpu_ms"):
        if getattr(rows[0]["real"], clock) is None:
            continue
        costs = {
            name: [
                (getattr(row[name], clock) / row[name].rounds)
                / (getattr(row["plain"], clock) / row["plain"].tokens)
                for row in rows
            ]
            for name in ("real", "forced")
        }
        ratios = [b / a for a, b in zip(costs["real"], costs["forced"], strict=True)]
        low, high = _interval(ratios)
        found.append(
            f"{clock}: R {median(costs['real']):.3f} real, {median(costs['forced']):.3f} forced; "
            f"forced over real {median(ratios):.3f} [{low:.3f}, {high:.3f}]"
        )
    for name in ("real", "forced"):
        rounds = sum(row[name].rounds for row in rows)
        tokens = sum(row[name].tokens for row in rows)
        drafted = sum(row[name].drafted for row in rows)
        found.append(
            f"{name}: {tokens / rounds:.3f} tokens per round, {drafted / rounds:.3f} drafted, "
            f"{rounds} rounds"
        )
    return found


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % of the median, by the bootstrap over answers."""
    drawn = np.random.default_rng(0).choice(values, (2000, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Starts the three servers of one engine, all of which end with `ends`."""

    server: Path | None
    vllm: Path | None
    depth: int
    ends: ExitStack

    def start(self, name: str, length: float | None = None) -> Asked:
        """The plain server, the one with a real draft, or with its length set."""
        if self.vllm is not None:
            mode = "none" if name == "plain" else "draft_model"
            return Vllm(base_url=self.ends.enter_context(running(self.vllm, mode, length=length)))
        words = () if name == "plain" else drafting(self.depth, length)
        started = serve(self.server or Path("llama-server"), words)
        self.ends.callback(started.process.end)
        return started


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.forced", description=__doc__)
    engine = parser.add_mutually_exclusive_group(required=True)
    engine.add_argument("--server", type=Path, help="a llama-server")
    engine.add_argument("--vllm", type=Path, help="what make test-vllm has set up; its depth is 3")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--length", type=float, help="tokens per round; default: the real draft's")
    parser.add_argument("--prompts", type=int, default=6)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=64)
    chosen = parser.parse_args(arguments)
    prompts = [each.text for each in suite.load("core").prompts[:: 32 // chosen.prompts]]
    drafted = (SPECULATION["draft_model"] or {})["num_speculative_tokens"]
    depth = int(str(drafted)) if chosen.vllm else chosen.depth
    with ExitStack() as ends:
        vllm = chosen.vllm.absolute() if chosen.vllm else None
        setup = Setup(server=chosen.server, vllm=vllm, depth=depth, ends=ends)
        servers = {name: setup.start(name) for name in ("plain", "real")}
        first = [servers["real"].answer(prompt, chosen.tokens) for prompt in prompts]
        yielded = sum(each.tokens for each in first) / sum(each.rounds for each in first)
        length = chosen.length or round(yielded, 2)
        servers["forced"] = setup.start("forced", length)
        rows = []
        for block in range(chosen.blocks):
            for prompt in prompts:
                order = random.Random(block).sample(sorted(servers), len(servers))  # noqa: S311 - an order
                rows.append({name: servers[name].answer(prompt, chosen.tokens) for name in order})
        sys.stdout.write(f"depth {depth}, set length {length:g}\n")
        sys.stdout.write("".join(f"{line}\n" for line in lines(rows)))


if __name__ == "__main__":
    main()
