"""Ways in which a server, or a proxy before it, delivers the tokens that it has."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

from tests.harness.openai.fake_answers import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedIOBase

    from tests.harness.openai.fake_answers import FakeAnswer, Json, State

Piece = tuple[float, tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Chunks of a round each, unless told otherwise; `prompt_ms` after the request the first one.

    Nothing leaves before `from_ms`, then only `every_ms`, and the first chunk has `first` tokens.
    With `singly` each token is a chunk. With `caches` a prompt that was asked before takes no time.
    `line` ends each line, and `before` comes before each event.
    """

    prompt_ms: float = 2.0
    from_ms: float = 0.0
    every_ms: float = 0.0
    first: int = 1
    singly: bool = False
    caches: bool = False
    line: bytes = b"\n"
    before: bytes = b""

    def pieces(self, rounds: Iterable[tuple[int, ...]], *, round_ms: float) -> list[Piece]:
        """When each chunk is sent, in ms after the prompt was read, and its tokens."""
        done = [(number * round_ms, part) for number, part in enumerate(rounds)]
        if self.singly:
            done = [(at, (token,)) for at, part in done for token in part]
        sums = [sum(len(part) for _, part in done[: at + 1]) for at in range(len(done))]
        full = next(
            (at for (at, _), so_far in zip(done, sums, strict=True) if so_far >= self.first), 0
        )
        sent = [(self._leaves(max(at, full)), part) for at, part in done]
        if self.singly:
            return sent
        return [
            (at, tuple(chain.from_iterable(part for _, part in group)))
            for at, group in groupby(sent, key=lambda piece: piece[0])
        ]

    def _leaves(self, at_ms: float) -> float:
        at_ms = max(at_ms, self.from_ms)
        return math.ceil(at_ms / self.every_ms) * self.every_ms if self.every_ms else at_ms


def deliver(state: State, body: Json, made: FakeAnswer, out: BufferedIOBase) -> None:
    """Stream an answer as its server's delivery says."""
    behaviour, delivery = state.behaviour, state.behaviour.delivery
    assert delivery is not None
    asked = [each["messages"] for each in state.bodies[:-1]]
    seen = delivery.caches and body["messages"] in asked
    began = time.perf_counter() + (0.0 if seen else delivery.prompt_ms / 1000)
    pieces = delivery.pieces(made.rounds, round_ms=behaviour.round_ms)
    shown = [*_shown(pieces, behaviour.hidden)] or [(pieces[-1][0], ())]
    times = [0.0, *(at for at, _ in shown)]
    for at, chunk in enumerate(stream(state, body, made, [part for _, part in shown])):
        left = began + (times[at] if at < len(times) else times[-1]) / 1000 - time.perf_counter()
        time.sleep(max(0.0, left) if at else 0.0)
        event = b"data: " + json.dumps(chunk).encode()
        out.write(delivery.before + event + delivery.line + delivery.line)
        out.flush()
    state.leaves()
    out.write(b"data: [DONE]" + delivery.line + delivery.line)


def _shown(pieces: Iterable[Piece], hidden: int) -> Iterator[Piece]:
    """The pieces without so many tokens at their start, which are thought unseen."""
    for at, part in pieces:
        if shown := part[hidden:]:
            yield at, shown
        hidden = max(0, hidden - len(part))
