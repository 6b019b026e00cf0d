"""A target whose tokens are sampled at a temperature."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from harness.runners.inprocess.loop import Target


class _Rows(Target, Protocol):
    """A target that exposes the logits of its last step."""

    def logits(self, count: int) -> NDArray[np.float32]:
        """Return the logits at the first `count` positions of the last step."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """Samples tokens at a temperature.

    `key` and position seed each draw, so speculation changes no token. A draft token is accepted if
    it equals the sampled token. The text therefore has the same distribution as without
    speculation.
    """

    temperature: float
    key: str

    def draw(self, logits: NDArray[np.float32], position: int) -> int:
        """Sample the token at a position of the text, from the logits before that position."""
        weights = np.cumsum(np.exp((logits - logits.max()) / self.temperature, dtype=np.float64))
        share = Random(f"{self.key} {position}").random()  # noqa: S311 - no secret
        return int(np.searchsorted(weights, share * weights[-1], side="right"))


@dataclass(slots=True)
class SampledTarget:
    """A target whose choices are sampled; `held` is the number of tokens in its state."""

    target: _Rows
    sampler: Sampler
    held: int

    def step(self, tokens: Sequence[int]) -> list[int]:
        """Feed tokens after the held prefix; return the token sampled after each."""
        self.target.step(tokens)
        first, self.held = self.held + 1, self.held + len(tokens)
        rows = self.target.logits(len(tokens))
        return [self.sampler.draw(row, first + at) for at, row in enumerate(rows)]

    def truncate(self, length: int) -> None:
        self.target.truncate(length)
        self.held = length

    def is_end(self, token: int) -> bool:
        return self.target.is_end(token)

    def margins(self, count: int) -> list[float]:
        return self.target.margins(count)
