"""What do a server's own counters say? Prometheus text in, the difference of two readings out.

At concurrency 1 the difference before and after a request is that request's histogram.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_LINE = re.compile(
    r"^(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>[^}]*)\})?\s+(?P<value>\S+)", re.MULTILINE
)
_POSITION = re.compile(r'position="(\d+)"')
# The same counters under the names of the two engines that have them.
_PREFIXES = ("llamacpp:spec_decode", "vllm:spec_decode")
_ROUNDS = "num_drafts"
_DRAFTED = ("num_draft_tokens", "draft_tokens")
_ACCEPTED = ("num_accepted_tokens", "accepted_tokens")
_BY_POSITION = ("num_accepted_tokens_per_pos", "accepted_tokens_per_pos")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Speculation so far: rounds that drafted, tokens drafted and accepted.

    `accepted_at[i]` counts the rounds in which draft token i was accepted; empty if not told.
    """

    rounds: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...] = ()

    def since(self, earlier: Counters) -> Counters:
        """What happened between an earlier reading and this one."""
        before = earlier.accepted_at + (0,) * (len(self.accepted_at) - len(earlier.accepted_at))
        return Counters(
            rounds=self.rounds - earlier.rounds,
            drafted=self.drafted - earlier.drafted,
            accepted=self.accepted - earlier.accepted,
            accepted_at=tuple(
                now - then for now, then in zip(self.accepted_at, before, strict=True)
            ),
        )

    def accepted_histogram(self, plain_rounds: int) -> tuple[int, ...] | None:
        """Rounds by accepted length, `plain_rounds` without a draft among those of length 0.

        A round that accepted k tokens accepted positions 0 to k - 1, so the rounds that accepted
        exactly k are those that accepted position k - 1 and not position k. `None` where the
        engine does not count by position, or its counts do not fall from position to position.
        """
        if not self.accepted_at and self.accepted:
            return None
        reached = (self.rounds, *self.accepted_at, 0)
        exactly = [here - further for here, further in pairwise(reached)]
        if min(exactly) < 0:
            return None
        exactly[0] += plain_rounds
        while len(exactly) > 1 and exactly[-1] == 0:
            exactly.pop()
        return tuple(exactly)


def read_counters(text: str) -> Counters | None:
    """The counters in a metrics page, or `None` when it has none of speculation."""
    values: dict[str, float] = {}
    positions: dict[int, float] = {}
    for match in _LINE.finditer(text):
        name = _bare(match["name"])
        if name is None:
            continue
        position = _POSITION.search(match["labels"] or "")
        if name in _BY_POSITION and position:
            index = int(position[1])
            positions[index] = positions.get(index, 0.0) + float(match["value"])
        elif not position:
            values[name] = values.get(name, 0.0) + float(match["value"])
    drafted, accepted = _either(values, _DRAFTED), _either(values, _ACCEPTED)
    if drafted is None or accepted is None or _ROUNDS not in values:
        return None
    at = tuple(int(positions.get(index, 0)) for index in range(max(positions, default=-1) + 1))
    return Counters(rounds=int(values[_ROUNDS]), drafted=drafted, accepted=accepted, accepted_at=at)


def _bare(name: str) -> str | None:
    """A counter's name without the engine's prefix and the suffix `_total`; `None` for others."""
    for prefix in _PREFIXES:
        if name.startswith(f"{prefix}_"):
            return name.removeprefix(f"{prefix}_").removesuffix("_total")
    return None


def _either(values: dict[str, float], names: tuple[str, ...]) -> int | None:
    return next((int(values[name]) for name in names if name in values), None)
