"""May this draft speak for this target? llama.cpp's rule for two loaded vocabularies.

`harness.vocabulary` applies the same rule to headers, before anything is loaded, and explains it.
This is the engine's own word on what it loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import llama_cpp

from harness.vocabulary import FIRST_COMPARED, SIZE_DIFFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.runners.llama.weights import Weights


def vocabulary_mismatch(target: Weights, draft: Weights) -> str | None:
    """Why the vocabularies do not fit, in one line; `None` when they do."""
    for name, read in _compared(target):
        theirs, ours = read(draft.vocab), read(target.vocab)
        if theirs != ours:
            return f"the draft's {name} is {theirs}, the target's is {ours}"
    difference = abs(target.vocabulary_size - draft.vocabulary_size)
    if difference > SIZE_DIFFERENCE:
        return f"the vocabularies differ by {difference} tokens, at most {SIZE_DIFFERENCE} fit"
    for token in range(FIRST_COMPARED, min(target.vocabulary_size, draft.vocabulary_size)):
        theirs = llama_cpp.llama_vocab_get_text(draft.vocab, token)
        ours = llama_cpp.llama_vocab_get_text(target.vocab, token)
        if theirs != ours:
            return f"token {token} is {theirs!r} in the draft and {ours!r} in the target"
    return None


def _compared(target: Weights) -> Iterator[tuple[str, Callable[[object], object]]]:
    """What must be the same; the ids of BOS and EOS matter only where they are added."""
    yield "vocabulary type", llama_cpp.llama_vocab_type
    yield "habit of adding BOS", llama_cpp.llama_vocab_get_add_bos
    yield "habit of adding EOS", llama_cpp.llama_vocab_get_add_eos
    if llama_cpp.llama_vocab_get_add_bos(target.vocab):
        yield "first token (BOS)", llama_cpp.llama_vocab_bos
    if llama_cpp.llama_vocab_get_add_eos(target.vocab):
        yield "last token (EOS)", llama_cpp.llama_vocab_eos
