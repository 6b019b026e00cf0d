"""One MLX model in memory: its weights, its tokenizer, and the KV cache of a prompt."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm import load
from mlx_lm.models.cache import can_trim_prompt_cache, make_prompt_cache

from harness.campaign.conversation import messages
from harness.errors import BadInputError
from harness.models.compatibility import other_text
from harness.models.thinking import arguments

_PREFILL_TOKENS = 2048  # the step in which `mlx_lm` reads prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPrompt:
    """A prompt's KV cache, the greedy choice of the first token, and the margin of that choice.

    `prompt_ms` is `None` if the prompt had been read before.
    """

    network: Any
    prompt: tuple[int, ...]
    cache: list[Any]
    first: int
    margin: float
    prompt_ms: float | None = None

    def step(self, tokens: Sequence[int]) -> list[int]:
        choices: list[int] = mx.argmax(self._logits(tokens), axis=-1).tolist()
        return choices

    def advance(self, tokens: Sequence[int]) -> int:
        return int(mx.argmax(self._logits(tokens)[-1]).item())

    def truncate(self, length: int) -> None:
        """Drop all tokens beyond the first `length` from the cache, if the cache supports that."""
        if self.trims():
            for layer in self.cache:
                layer.trim(layer.offset - length)

    def trims(self) -> bool:
        """Whether tokens can be dropped from the cache; a recurrent model does not allow that."""
        offsets = all(hasattr(layer, "offset") for layer in self.cache)
        return offsets and bool(can_trim_prompt_cache(self.cache))

    def _logits(self, tokens: Sequence[int]) -> mx.array:
        return self.network(mx.array([list(tokens)]), cache=self.cache)[0]


class MlxModel:
    """Weights and tokenizer of one folder, with the cache of the prompt that was read last.

    Arms alternate prompt by prompt, so each prompt is read once per block instead of once per arm.
    """

    def __init__(self, path: Path) -> None:
        """Load a model's folder. Raises `BadInputError` if `mlx_lm` cannot load it."""
        try:
            self.network, self.tokenizer = load(str(path))
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            why = " ".join(str(error).split())
            raise BadInputError(f"{path.name} cannot be loaded as an MLX model ({why})") from error
        self._last: ReadPrompt | None = None

    def conversation(self, prompt: str, *, thinking: bool = False) -> str:
        """Return a prompt's conversation as text in the model's chat template."""
        if not self.tokenizer.has_chat_template:
            return prompt
        switches = {
            "tokenize": False,
            "add_generation_prompt": True,
            **arguments(thinking=thinking),
        }
        text: str = self.tokenizer.apply_chat_template(messages(prompt), **switches)
        return text

    def render(self, prompt: str, *, thinking: bool = False) -> list[int]:
        """Return the token ids of a prompt's conversation, up to the start of the answer."""
        text = self.conversation(prompt, thinking=thinking)
        bare = not self.tokenizer.has_chat_template  # a template includes the special tokens
        return list(self.tokenizer.encode(text, add_special_tokens=bare))

    def is_end(self, token: int) -> bool:
        return token in self.tokenizer.eos_token_ids

    def read(self, prompt: Sequence[int]) -> ReadPrompt:
        """Return a cache of exactly this prompt; reuse the last cache if its prompt was equal."""
        last, self._last = self._last, None
        if last is not None and last.prompt == tuple(prompt) and last.trims():
            last.truncate(len(prompt))
            self._last = replace(last, prompt_ms=None)
            return self._last
        cache = make_prompt_cache(self.network)
        began = time.perf_counter()
        for start in range(0, len(prompt) - 1, _PREFILL_TOKENS):
            piece = list(prompt[start : min(start + _PREFILL_TOKENS, len(prompt) - 1)])
            self.network(mx.array([piece]), cache=cache)
            mx.eval([layer.state for layer in cache])
        logits = self.network(mx.array([prompt[-1:]]), cache=cache)[0, -1]
        first = int(mx.argmax(logits).item())
        self._last = ReadPrompt(
            network=self.network,
            prompt=tuple(prompt),
            cache=cache,
            first=first,
            prompt_ms=(time.perf_counter() - began) * 1000,
            margin=margin(logits),
        )
        return self._last

    def forget(self) -> None:
        """Drop the cache, so that the next prompt is read even if it equals the last."""
        self._last = None


def margin(logits: mx.array) -> float:
    """Return the likeliest token's logit minus the runner-up's."""
    top = mx.topk(logits.astype(mx.float32), 2)
    return float((mx.max(top) - mx.min(top)).item())


def vocabulary_mismatch(target: MlxModel, draft: MlxModel) -> str | None:
    """Return in one line why two vocabularies do not match; `None` if they match."""
    vocabularies = (each.tokenizer.get_vocab() for each in (target, draft))
    named = [{token: text for text, token in each.items()} for each in vocabularies]
    return other_text(*([each.get(token) for token in range(max(each) + 1)] for each in named))
