"""Cache the states of prompts: a prompt is processed once, then its state is restored.

A campaign visits every prompt in every block. Processing every prompt again each time, for the
target and for every draft, took a quarter of a campaign's time; copying a state back takes
milliseconds.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import psutil

from harness.runners.inprocess.context import Context

_MOST_BYTES = 2 * 1024**3
_SHARE_OF_MEMORY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptState:
    """A processed prompt: the greedy choice after it, with its margin, and the time taken.

    `prompt_ms` is `None` if the prompt did not have to be processed.
    """

    first: int
    margin: float
    prompt_ms: float | None = None


class PromptStates:
    """A cache of prompt states, keyed by context name, that holds a limited number of bytes.

    The first states are never evicted: prompts follow a fixed rotation, so evicting the oldest
    state would drop each state just before it is needed.
    """

    def __init__(self, budget_bytes: int | None = None) -> None:
        """Cache at most this many bytes; by default an eighth of the free memory, at most 2 GiB."""
        available = psutil.virtual_memory().available // _SHARE_OF_MEMORY
        self._left_bytes = min(_MOST_BYTES, available) if budget_bytes is None else budget_bytes
        # The choice after each prompt, and a copy of its state if there was room for one.
        self._states: dict[tuple[str, tuple[int, ...]], tuple[PromptState, bytes | None]] = {}
        self._current: dict[str, tuple[int, ...]] = {}

    def ensure_prompt_state(self, context: Context, prompt: Sequence[int]) -> PromptState:
        """Make the context contain exactly the prompt: restore its state, or process the prompt."""
        key = (context.name, tuple(prompt))
        prompt_state, saved = self._states.get(key, (None, None))
        if prompt_state is None or not self._restored(context, key[1], saved):
            began = time.perf_counter()
            first = context.prefill(prompt)
            prompt_ms = (time.perf_counter() - began) * 1000
            prompt_state = replace(self._cache(context, key, first), prompt_ms=prompt_ms)
        self._current[context.name] = key[1]
        return prompt_state

    def forget(self, context: Context) -> None:
        """Clear the context, and note that it no longer holds a known prompt.

        Its saved states remain: a later context of the same name can use them.
        """
        context.clear()
        self._current.pop(context.name, None)

    def clear(self) -> None:
        """Drop all states, so that each prompt is processed again."""
        self._left_bytes += sum(len(saved or b"") for _, saved in self._states.values())
        self._states.clear()

    def _restored(self, context: Context, prompt: tuple[int, ...], saved: bytes | None) -> bool:
        if self._current.get(context.name) == prompt and context.try_truncate(len(prompt)):
            return True
        return saved is not None and context.restore(saved, tokens=len(prompt))

    def _cache(self, context: Context, key: tuple[str, tuple[int, ...]], first: int) -> PromptState:
        saved = None
        size_bytes = context.state_bytes()
        if size_bytes <= self._left_bytes:
            saved = context.state()
            self._left_bytes -= len(saved)
        prompt_state = PromptState(first=first, margin=context.margins(1)[0])
        self._states[key] = (prompt_state, saved)
        return prompt_state
