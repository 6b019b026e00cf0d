"""May this draft speak for this target? llama.cpp's rule for two loaded vocabularies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import llama_cpp

if TYPE_CHECKING:
    from harness.runners.llama.weights import Weights

MAX_SIZE_DIFFERENCE = 128
_FIRST_COMPARED_TOKEN = 5  # the ids before are special tokens that may differ in text


def vocabulary_mismatch(target: Weights, draft: Weights) -> str | None:
    """Why the vocabularies do not fit, in one line; `None` when they do."""
    for name, read in _PROPERTIES.items():
        theirs, ours = read(draft.vocab), read(target.vocab)
        if theirs != ours:
            return f"the draft's {name} is {theirs}, the target's is {ours}"
    difference = abs(target.vocabulary_size - draft.vocabulary_size)
    if difference > MAX_SIZE_DIFFERENCE:
        return f"the vocabularies differ by {difference} tokens, at most {MAX_SIZE_DIFFERENCE} fit"
    for token in range(_FIRST_COMPARED_TOKEN, min(target.vocabulary_size, draft.vocabulary_size)):
        theirs = llama_cpp.llama_vocab_get_text(draft.vocab, token)
        ours = llama_cpp.llama_vocab_get_text(target.vocab, token)
        if theirs != ours:
            return f"token {token} is {theirs!r} in the draft and {ours!r} in the target"
    return None


_PROPERTIES = {
    "vocabulary type": llama_cpp.llama_vocab_type,
    "first token (BOS)": llama_cpp.llama_vocab_bos,
    "last token (EOS)": llama_cpp.llama_vocab_eos,
    "habit of adding BOS": llama_cpp.llama_vocab_get_add_bos,
    "habit of adding EOS": llama_cpp.llama_vocab_get_add_eos,
}
