"""Does a forced arm cost what a real draft of the same depth costs, on llama.cpp's server?

`python -m tests.bench.forced --server PATH` starts three servers: plain, with a real draft, and
with the same draft and its tokens per round as the set length. They answer the same prompts one
after another in random order, block by block. Both clocks are printed: the server's own times, and
the processor time of its threads, which other programs on the machine do not stretch.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.campaign import suite
from harness.models.resolve import resolve
from harness.runners.base import Failure
from harness.runners.http.client import Address, Client
from harness.runners.http.process import ServerProcess, free_port, start_ready

if TYPE_CHECKING:
    from collections.abc import Sequence

NS_PER_MS = 1e6
READY_S, ANSWER_S = 120.0, 600.0
TARGET, DRAFT = "smollm2-135m:f16", "smollm2-135m:q4_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer by both clocks; its prompt was read before."""

    wall_ms: float
    cpu_ms: float
    tokens: int
    rounds: int
    drafted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server with one way of drafting."""

    process: ServerProcess
    client: Client

    def answer(self, prompt: str, tokens: int) -> Answer:
        """Greedy, to the full length, from a prompt that the server holds already."""
        question = {
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


def serve(program: Path, drafting: Sequence[str]) -> Server:
    """A server of the target on one thread. Raises `SystemExit` when it does not start."""
    port = free_port()
    client = Client(Address(host="127.0.0.1", port=port), limit_s=ANSWER_S)
    words = ["-m", str(resolve(TARGET, say=_quiet)), "--host", "127.0.0.1", "--port", str(port)]
    words += ["-a", "m", "-c", "2048", "-np", "1", "-t", "1", "-tb", "1", "-b", "512", "-ub", "512"]
    words += ["-ngl", "0", "--cache-ram", "0", *drafting]
    started = start_ready(
        program, words, port=port, limit_s=READY_S, ask=lambda: client.get("/health")
    )
    if isinstance(started, Failure):
        sys.exit(started.detail)
    return Server(process=started, client=client)


def drafting(depth: int, length: float | None = None) -> list[str]:
    """The words for a draft of a depth, its acceptance set where a length is given."""
    words = ["-md", str(resolve(DRAFT, say=_quiet)), "-ngld", "0", "--spec-type", "draft-simple"]
    words += ["--spec-draft-n-max", str(depth), "--spec-draft-n-min", "0"]
    words += ["--spec-draft-p-min", "0"]
    return words if length is None else [*words, "--spec-synth-len", f"{length:g}"]


def _quiet(_text: str) -> None:
    """Nothing is said while models are looked up."""


def lines(rows: Sequence[dict[str, Answer]]) -> list[str]:
    """R of both arms and their ratio by both clocks, and what the counters say."""
    found = []
    for clock in ("wall_ms", "cpu_ms"):
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.forced", description=__doc__)
    parser.add_argument("--server", type=Path, required=True, help="a llama-server")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--length", type=float, help="tokens per round; default: the real draft's")
    parser.add_argument("--prompts", type=int, default=6)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=64)
    chosen = parser.parse_args(arguments)
    prompts = [each.text for each in suite.load("core").prompts[:: 32 // chosen.prompts]]
    servers = {"plain": serve(chosen.server, ())}
    try:
        servers["real"] = serve(chosen.server, drafting(chosen.depth))
        first = [servers["real"].answer(prompt, chosen.tokens) for prompt in prompts]
        yielded = sum(each.tokens for each in first) / sum(each.rounds for each in first)
        length = chosen.length or round(yielded, 2)
        servers["forced"] = serve(chosen.server, drafting(chosen.depth, length))
        rows = []
        for block in range(chosen.blocks):
            for prompt in prompts:
                order = random.Random(block).sample(sorted(servers), len(servers))  # noqa: S311 - an order
                rows.append({name: servers[name].answer(prompt, chosen.tokens) for name in order})
        sys.stdout.write(f"depth {chosen.depth}, set length {length:g}\n")
        sys.stdout.write("".join(f"{line}\n" for line in lines(rows)))
    finally:
        for each in servers.values():
            each.process.end()


if __name__ == "__main__":
    main()
