"""Hold one MLX model in memory: its weights, its tokenizer, and the caches of prompts.

A campaign visits every prompt in every block. Its cache is made once and trimmed after each
generation, as the in-process runner of llama.cpp does it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import psutil
from mlx_lm import load
from mlx_lm.models.cache import can_trim_prompt_cache, make_prompt_cache

from harness.campaign.conversation import messages
from harness.errors import BadInputError
from harness.models.compatibility import FIRST_COMPARED, SIZE_DIFFERENCE
from harness.models.thinking import arguments

_PREFILL_TOKENS = 2048  # as `mlx_lm` reads prompts
_MOST_BYTES = 2 * 1024**3
_SHARE_OF_MEMORY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """A cache that holds exactly a prompt, the greedy choice after it and the choice's margin.

    `prompt_ms` is `None` where the prompt was read before.
    """

    model: "MlxModel"
    prompt: tuple[int, ...]
    cache: list[Any]
    first: int
    margin: float
    prompt_ms: float | None = None

    def step(self, tokens: Sequence[int]) -> list[int]:
        """Feed tokens after the held text; the greedy choice after each of them."""
        choices: list[int] = mx.argmax(self._logits(tokens), axis=-1).tolist()
        return choices

    def advance(self, tokens: Sequence[int]) -> int:
        """Feed tokens after the held text; the greedy choice after the last of them."""
        return int(mx.argmax(self._logits(tokens)[-1]).item())

    def truncate(self, length: int) -> None:
        """Forget everything beyond the first `length` tokens, where the cache can."""
        self.holds(length)

    def holds(self, length: int) -> bool:
        """Trim the cache to the first `length` tokens; whether it then holds them."""
        offsets = [getattr(layer, "offset", None) for layer in self.cache]
        if None in offsets or not can_trim_prompt_cache(self.cache):
            return False
        for layer in self.cache:
            layer.trim(layer.offset - length)
        return all(layer.offset == length for layer in self.cache)

    def _logits(self, tokens: Sequence[int]) -> mx.array:
        return self.model.network(mx.array([list(tokens)]), cache=self.cache)[0]


class MlxModel:
    """Weights and tokenizer of one folder, with the caches of the prompts that it has read."""

    def __init__(self, path: Path) -> None:
        """Load a folder. Raises `BadInputError` where `mlx_lm` cannot."""
        try:
            self.network, self.tokenizer = load(str(path))
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            message = f"{path.name} could not be loaded as an MLX model ({error})"
            raise BadInputError(" ".join(message.split())) from error
        available = psutil.virtual_memory().available // _SHARE_OF_MEMORY
        self._left_bytes = min(_MOST_BYTES, available)
        self._read: dict[tuple[int, ...], Prompted] = {}

    def conversation(self, prompt: str, *, thinking: bool = False) -> str:
        """The text of the conversation of a prompt under the model's chat template."""
        if not self.tokenizer.has_chat_template:
            return prompt
        text: str = self.tokenizer.apply_chat_template(
            messages(prompt), tokenize=False, add_generation_prompt=True,
            **arguments(thinking=thinking),
        )  # fmt: skip
        return text

    def render(self, prompt: str, *, thinking: bool = False) -> list[int]:
        """Token ids of the conversation of a prompt, ready for the answer."""
        text = self.conversation(prompt, thinking=thinking)
        templated = self.tokenizer.has_chat_template  # then it has its special tokens
        return list(self.tokenizer.encode(text, add_special_tokens=not templated))

    def is_end(self, token: int) -> bool:
        return token in self.tokenizer.eos_token_ids

    def hold(self, prompt: Sequence[int]) -> Prompted:
        """A cache that holds exactly the prompt: the one that is there, or a new one."""
        key = tuple(prompt)
        known = self._read.get(key)
        if known is not None:
            return known
        cache = make_prompt_cache(self.network)
        began = time.perf_counter()
        logits = self._read_in(key, cache)
        first = int(mx.argmax(logits).item())
        prompt_ms = (time.perf_counter() - began) * 1000
        made = Prompted(model=self, prompt=key, cache=cache, first=first, margin=margin(logits))
        if (size := _bytes(cache)) <= self._left_bytes:
            self._left_bytes -= size
            self._read[key] = made
        return replace(made, prompt_ms=prompt_ms)

    def release(self, held: Prompted) -> None:
        """Take a cache back after a generation; one that cannot be trimmed is dropped."""
        if not held.holds(len(held.prompt)) and self._read.pop(held.prompt, None) is not None:
            self._left_bytes += _bytes(held.cache)

    def forget(self) -> None:
        """Drop every cache, so that each prompt is read again."""
        self._left_bytes += sum(_bytes(held.cache) for held in self._read.values())
        self._read.clear()

    def _read_in(self, prompt: tuple[int, ...], cache: list[Any]) -> mx.array:
        """Read a prompt as `mlx_lm` does: in pieces, then its last token. The logits after it."""
        body = prompt[:-1]
        for start in range(0, len(body), _PREFILL_TOKENS):
            piece = body[start : start + _PREFILL_TOKENS]
            self.network(mx.array([piece]), cache=cache)
            mx.eval([layer.state for layer in cache])
        return self.network(mx.array([prompt[-1:]]), cache=cache)[0, -1]


def margin(logits: mx.array) -> float:
    """The likeliest token's logit minus the runner-up's."""
    top = mx.topk(logits.astype(mx.float32), 2)
    return float((mx.max(top) - mx.min(top)).item())


def vocabulary_mismatch(target: MlxModel, draft: MlxModel) -> str | None:
    """Why the vocabularies do not fit, in one line; `None` when they do."""
    ours, theirs = (
        {token: text for text, token in each.tokenizer.get_vocab().items()}
        for each in (target, draft)
    )
    difference = abs(len(ours) - len(theirs))
    if difference > SIZE_DIFFERENCE:
        return f"the vocabularies differ by {difference} tokens, at most {SIZE_DIFFERENCE} fit"
    for token in sorted(ours.keys() & theirs.keys()):
        if token >= FIRST_COMPARED and ours[token] != theirs[token]:
            return f"token {token} is {theirs[token]!r} in the draft, {ours[token]!r} in the target"
    return None


def _bytes(cache: Sequence[Any]) -> int:
    return sum(layer.nbytes for layer in cache)
