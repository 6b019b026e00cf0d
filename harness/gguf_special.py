"""Which tokens begin and end a text, and are they added? As llama.cpp reads it from a GGUF file.

`llama_vocab::impl::load` in src/llama-vocab.cpp: each kind of tokenizer has ids that hold where the
file names none, or one that the vocabulary does not have; and for a flag that the file leaves out
the kind decides, or for BPE the pre-tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.gguf_file import flag, number, text

if TYPE_CHECKING:
    from gguf import GGUFReader

_PREFIX = "tokenizer.ggml."
# By `tokenizer.ggml.model`: the ids of BOS and EOS.
_IDS: dict[str, tuple[int | None, int | None]] = {
    "llama": (1, 2),
    "bert": (101, None),
    "gpt2": (11, 11),
    "hybriddna": (11, 11),
    "whitespace": (11, 11),
    "t5": (None, 1),
    "plamo2": (1, 2),
}
_ADD_BOS = {"llama", "bert"}
_ADD_EOS = {"t5"}
_BPE = {"gpt2", "hybriddna", "whitespace", "gemma4"}
_ADD_BOS_BY_PRE = {
    *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"),
    *("jina-v5-nano", "tekken", "chameleon"),
}
_NO_BOS_BY_PRE = {"chatglm-bpe", "glm4", "glm5"}
# These add BOS whatever the file says (ggml-org/llama.cpp#21500).
_ALWAYS_BOS_BY_PRE = {"gemma4", "granite-embed-multi-311m"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialTokens:
    """Ids of BOS and EOS, `None` where there is none, and whether each is added."""

    bos: int | None
    eos: int | None
    add_bos: bool
    add_eos: bool


def special_tokens(reader: GGUFReader, kind: str, size: int) -> SpecialTokens:
    """The special tokens of a vocabulary of this kind and size."""
    pre = (text(reader, f"{_PREFIX}pre") if kind in _BPE else None) or ""
    if kind == "gemma4":
        pre = "gemma4"
    bos, eos = _IDS.get(kind, (None, None))
    if pre in _NO_BOS_BY_PRE:
        bos = None
    adds_bos = flag(
        reader, f"{_PREFIX}add_bos_token", default=kind in _ADD_BOS or pre in _ADD_BOS_BY_PRE
    )
    return SpecialTokens(
        bos=_id(reader, "bos", bos, size),
        eos=_id(reader, "eos", eos, size),
        add_bos=adds_bos or pre in _ALWAYS_BOS_BY_PRE,
        add_eos=flag(reader, f"{_PREFIX}add_eos_token", default=kind in _ADD_EOS),
    )


def _id(reader: GGUFReader, name: str, assumed: int | None, size: int) -> int | None:
    stated = number(reader, f"{_PREFIX}{name}_token_id")
    for token in (stated, assumed):
        if token is not None and token < size:
            return token
    return None
