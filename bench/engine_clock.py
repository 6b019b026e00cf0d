"""Measure how much of a round is spent outside the engine, by timing the calls into it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

import llama_cpp

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.runners.base import Generation


_TIMED = ("llama_decode", "llama_synchronize")


class DecodeClock:
    """Inside its `with` block, every call of `llama_decode` (and the wait for it) is timed.

    Only generations whose prompt state was kept count: theirs are the calls of rounds alone.
    """

    def __init__(self) -> None:
        self._inside_ms = 0.0
        self._counted_ms = 0.0
        self._decode_ms = 0.0
        self._originals = {name: getattr(llama_cpp, name) for name in _TIMED}

    def __enter__(self) -> Self:
        for name, original in self._originals.items():
            setattr(llama_cpp, name, self._timed(original))
        return self

    def __exit__(self, *_: object) -> None:
        for name, original in self._originals.items():
            setattr(llama_cpp, name, original)

    def begin(self) -> None:
        """Start a generation."""
        self._inside_ms = 0.0

    def end(self, generation: Generation) -> None:
        """Count a generation, if none of its calls processed a prompt."""
        if generation.prompt_ms is None and self._inside_ms <= generation.decode_ms:
            self._counted_ms += self._inside_ms
            self._decode_ms += generation.decode_ms

    @property
    def outside_share(self) -> float:
        """Share of the decode time that was not spent in the engine."""
        return 1 - self._counted_ms / self._decode_ms

    def _timed(self, original: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: object) -> int:
            began = time.perf_counter()
            try:
                return original(*arguments)
            finally:
                self._inside_ms += (time.perf_counter() - began) * 1000

        return call
