"""Ways in which a server, or a proxy in front of it, delivers its tokens."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, groupby

Piece = tuple[float, tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One chunk per round, unless stated otherwise; the first comes `prompt_ms` after the request.

    Nothing is sent before `from_ms`, then only every `every_ms`; the first chunk has `first`
    tokens. With `singly` each token is a chunk. With `caches` a repeated prompt takes no time.
    `line` ends each line, and `before` precedes each event.
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
