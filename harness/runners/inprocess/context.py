"""Step a model: one context with one reused batch, one sequence, greedy choices.

A timed step has little overhead: tokens are written into the batch through numpy views, and logits
are read in place.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import replace

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from harness.campaign.model import RunSettings
from harness.errors import MachineError
from harness.runners.devices import default_threads
from harness.runners.inprocess import engine_log
from harness.runners.inprocess.gguf_model import LoadedWeights

_SEQUENCE = 0
_NO_SLOT = 1
_FLASH = {
    "auto": llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO,
    "off": llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED,
    "on": llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED,
}
_BF16 = 30  # the only ggml type that the binding lacks
_OTHER_REMEDY = "lower --context, or change --cache-type-k, --cache-type-v or --flash-attention"


class DecodeError(Exception):
    """The engine refused a step; the message explains the engine's return code."""


class RollbackError(Exception):
    """The engine cannot drop the end of the text from its state, as with recurrent models."""


class Context:
    """One sequence of a model. `held` counts the tokens whose state the engine keeps."""

    def __init__(
        self, weights: LoadedWeights, settings: RunSettings, *, name: str, outputs: int
    ) -> None:
        """Reserve a context for the campaign's tokens, with at most `outputs` logit rows per step.

        Contexts with the same name are interchangeable: each can restore the other's state.

        Raises `MachineError` if there is not enough memory.
        """
        self.name = name
        self.weights = weights
        params = _params(settings, outputs, recurrent=weights.keeps_recurrent_state)
        self.ctx = llama_cpp.llama_init_from_model(weights.model, params)
        if not self.ctx:
            why = engine_log.last_error()
            usual = with_default_attention(settings) == settings
            remedy = "lower --context" if usual else _OTHER_REMEDY
            size = f"a context of {settings.context_tokens} tokens"
            raise MachineError(f"not enough memory for {size} ({why}); {remedy}")
        self.held = 0
        self._memory = llama_cpp.llama_get_memory(self.ctx)
        self._batch_tokens = settings.batch_tokens
        self._rows: NDArray[np.float32] = np.empty((0, weights.vocabulary_size), np.float32)
        self._open_batch()

    def close(self) -> None:
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self.ctx)

    def prefill(self, tokens: Sequence[int]) -> int:
        """Clear the context and process these tokens; return the greedy choice after the last."""
        self.clear()
        last = len(tokens) - 1
        for start in range(0, len(tokens), self._batch_tokens):
            chunk = tokens[start : start + self._batch_tokens]
            logits = 1 if start + len(chunk) > last else 0
            self._feed(chunk, logits_from=len(chunk) - logits)
        return self._choices(1)[0]

    def step(self, tokens: Sequence[int]) -> list[int]:
        self._feed(tokens, logits_from=0)
        return self._choices(len(tokens))

    def advance(self, tokens: Sequence[int]) -> int:
        self._feed(tokens, logits_from=len(tokens) - 1)
        return self._choices(1)[0]

    def truncate(self, length: int) -> None:
        """Drop everything beyond the first `length` tokens. Raises `RollbackError`."""
        if length >= self.held:
            return
        if not llama_cpp.llama_memory_seq_rm(self._memory, _SEQUENCE, length, -1):
            raise RollbackError
        self.held = length

    def try_truncate(self, length: int) -> bool:
        """Like `truncate`, but return whether exactly `length` tokens remain."""
        try:
            self.truncate(length)
        except RollbackError:
            return False
        return self.held == length

    def clear(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, True)  # noqa: FBT003 - a C signature
        self.held = 0

    def state_bytes(self) -> int:
        """Return the number of bytes in a copy of the held text's state."""
        size: int = llama_cpp.llama_state_seq_get_size(self.ctx, _SEQUENCE)
        return size

    def state(self) -> bytes:
        """Return a copy of the held text's state, for `restore`."""
        size = self.state_bytes()
        buffer = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(self.ctx, buffer, size, _SEQUENCE)
        return bytes(memoryview(buffer)[:written])

    def restore(self, state: bytes, *, tokens: int) -> bool:
        """Replace the held text with a saved state of `tokens` tokens; return whether it worked."""
        self.clear()
        source = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))
        if not llama_cpp.llama_state_seq_set_data(self.ctx, source, len(state), _SEQUENCE):
            return False
        self.held = tokens
        return True

    def is_end(self, token: int) -> bool:
        return self.weights.is_end(token)

    def margins(self, count: int) -> list[float]:
        """Return the top logit minus the second, for the first `count` rows of the last step."""
        top = np.partition(self._rows[:count], -2, axis=1)[:, -2:]
        return [float(high - low) for low, high in top]

    def _open_batch(self) -> None:
        size = self._batch_tokens
        self._batch = llama_cpp.llama_batch_init(size, 0, 1)
        self._token_view = np.ctypeslib.as_array(self._batch.token, (size,))
        self._position_view = np.ctypeslib.as_array(self._batch.pos, (size,))
        self._logits_view = np.ctypeslib.as_array(self._batch.logits, (size,))
        self._positions = np.arange(size, dtype=np.int32)
        for index in range(size):
            self._batch.n_seq_id[index] = 1
            self._batch.seq_id[index][0] = _SEQUENCE

    def _feed(self, tokens: Sequence[int], *, logits_from: int) -> None:
        count = len(tokens)
        self._token_view[:count] = tokens
        self._position_view[:count] = self._positions[:count] + self.held
        self._logits_view[:count] = 0
        self._logits_view[logits_from:count] = 1
        self._batch.n_tokens = count
        code = llama_cpp.llama_decode(self.ctx, self._batch)
        if code != 0:
            why = "the context is full" if code == _NO_SLOT else engine_log.last_error()
            raise DecodeError(f"llama_decode returned {code}: {why}")
        self.held += count

    def _choices(self, rows: int) -> list[int]:
        """Return the greedy choices of the last step. Reading the logits waits for the device."""
        llama_cpp.llama_synchronize(self.ctx)
        logits = llama_cpp.llama_get_logits(self.ctx)
        self._rows = np.ctypeslib.as_array(logits, (rows, self.weights.vocabulary_size))
        choices: list[int] = self._rows.argmax(axis=1).tolist()
        return choices


def with_default_attention(settings: RunSettings) -> RunSettings:
    """Return the settings with the default KV types and attention, as servers use for drafts."""
    return replace(settings, kv_type_k="f16", kv_type_v="f16", flash_attention="auto")


def _params(
    settings: RunSettings, outputs: int, *, recurrent: bool
) -> llama_cpp.llama_context_params:
    params: llama_cpp.llama_context_params = llama_cpp.llama_context_default_params()
    params.n_ctx = settings.context_tokens
    params.n_batch = params.n_ubatch = settings.batch_tokens
    params.n_outputs_max = outputs
    params.no_perf = True
    if recurrent:
        params.n_rs_seq = outputs
    params.type_k, params.type_v = (
        getattr(llama_cpp, f"GGML_TYPE_{name.upper()}", _BF16)
        for name in (settings.kv_type_k, settings.kv_type_v)
    )
    params.flash_attn_type = _FLASH[settings.flash_attention]
    params.n_threads = params.n_threads_batch = settings.threads or default_threads()
    return params
