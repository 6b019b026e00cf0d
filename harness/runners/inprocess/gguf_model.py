"""A loaded model: weights, vocabulary and chat template of one GGUF file."""

import ctypes
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import llama_cpp
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from harness.campaign.conversation import messages
from harness.campaign.model import ALL_LAYERS
from harness.errors import BadInputError, MachineError
from harness.models.thinking import arguments
from harness.runners.inprocess import engine_log
from schemas.submission import SplitMode

# llama.cpp counts the output layer too; any number above the model's layers means all.
_EVERY_LAYER = 9999
_LONGEST_PIECE = 256  # in bytes; the longest tokens are runs of blanks
_SPLIT = {
    "none": llama_cpp.LLAMA_SPLIT_MODE_NONE,
    "layer": llama_cpp.LLAMA_SPLIT_MODE_LAYER,
    "row": llama_cpp.LLAMA_SPLIT_MODE_ROW,
    "tensor": llama_cpp.LLAMA_SPLIT_MODE_TENSOR,
}


class LoadedWeights:
    """One model in memory, to be closed after every context that uses the model."""

    def __init__(self, path: Path, *, gpu_layers: int, split_mode: SplitMode | None = None) -> None:
        """Load a GGUF file. Raises `MachineError` (memory) or `BadInputError` (the file)."""
        engine_log.clear()
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = _EVERY_LAYER if gpu_layers == ALL_LAYERS else gpu_layers
        if split_mode is not None:
            params.split_mode = _SPLIT[split_mode]
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise _load_error(path)
        self.resident_layers = engine_log.offloaded_layers()
        if self.resident_layers is None and not llama_cpp.llama_supports_gpu_offload():
            self.resident_layers = 0
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.vocabulary_size: int = llama_cpp.llama_vocab_n_tokens(self.vocab)
        self.layers: int = llama_cpp.llama_model_n_layer(self.model)
        self._ends: dict[int, bool] = {}

    def close(self) -> None:
        llama_cpp.llama_model_free(self.model)

    @property
    def keeps_recurrent_state(self) -> bool:
        """Whether the model keeps a recurrent state (Mamba, hybrids), which cannot be truncated."""
        recurrent = llama_cpp.llama_model_is_recurrent(self.model)
        return bool(recurrent or llama_cpp.llama_model_is_hybrid(self.model))

    @property
    def chat_template(self) -> str | None:
        template = llama_cpp.llama_model_chat_template(self.model, None)
        return template.decode() if template else None

    def is_end(self, token: int) -> bool:
        known = self._ends.get(token)
        if known is None:
            known = self._ends[token] = bool(llama_cpp.llama_vocab_is_eog(self.vocab, token))
        return known

    def text(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens, without tokens that end an answer."""
        kept = (token for token in tokens if not self.is_end(token))
        return b"".join(map(self._bytes, kept)).decode("utf-8", "replace")

    def render(self, prompt: str, *, thinking: bool = False) -> list[int]:
        """Return the token ids of a prompt's conversation, up to the start of the answer."""
        text = self.conversation(prompt, thinking=thinking)
        bos = self.piece(llama_cpp.llama_vocab_bos(self.vocab))
        if llama_cpp.llama_vocab_get_add_bos(self.vocab) and bos and text.startswith(bos):
            text = text[len(bos) :]  # the tokenizer adds BOS again
        return self.tokens(text)

    def conversation(self, prompt: str, *, thinking: bool = False) -> str:
        """Return a prompt as a conversation in the model's chat template."""
        if self.chat_template is None:
            return prompt
        render = Jinja2ChatFormatter(
            template=self.chat_template,
            eos_token=self.piece(llama_cpp.llama_vocab_eos(self.vocab)),
            bos_token=self.piece(llama_cpp.llama_vocab_bos(self.vocab)),
        )
        # Typed as `Any`, because the formatter does not declare the switches as parameters.
        switches: dict[str, Any] = dict(arguments(thinking=thinking))
        conversation: list[Any] = [*messages(prompt)]
        text: str = render(messages=conversation, **switches).prompt
        return text

    def tokens(self, text: str, *, begins: bool = True) -> list[int]:
        """Return the token ids of a text.

        Special tokens that are spelled out in the text become single tokens; BOS is added if
        `begins` is set.
        """
        data = text.encode()
        room = len(data) + 8
        buffer = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self.vocab, data, len(data), buffer, room, begins, True)  # noqa: FBT003
        return list(buffer[:count])

    def piece(self, token: int) -> str:
        return self._bytes(token).decode("utf-8", "replace")

    def _bytes(self, token: int) -> bytes:
        if token < 0:
            return b""
        buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
        length = llama_cpp.llama_token_to_piece(self.vocab, token, buffer, _LONGEST_PIECE, 0, True)  # noqa: FBT003
        return buffer.raw[: max(length, 0)]


def _load_error(path: Path) -> MachineError | BadInputError:
    why = engine_log.last_error()
    if engine_log.out_of_memory():
        return MachineError(
            f"{path.name} does not fit into memory ({why}); "
            "try --gpu-layers with fewer layers, or a smaller quantisation"
        )
    return BadInputError(f"{path.name} could not be loaded as a GGUF model ({why})")
