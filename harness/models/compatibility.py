"""Check whether a draft is compatible with a target, by llama.cpp's rule.

The rule is `common_speculative_are_compatible` in llama.cpp's common/speculative.cpp: the same kind
of vocabulary; BOS added by both models or by neither, with the same id if added; the same for EOS;
sizes within 128; the same text for every shared id from 5 up. Ids below 5 may differ, since models
have special tokens there. Builds since 2026 refuse any other pair; builds of 2025 translated drafts
between vocabularies as text.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import BadInputError
from harness.models.gguf_header import TOKENIZERS, Vocabulary, vocabulary_and_tokens

# Since July 2026 (vllm-project/vllm#38174), with greedy drafts.
OTHER_VOCABULARIES = (
    "Only vLLM can draft with a different vocabulary, using the tokens that both models share: "
    '{"method": "draft_model", "use_heterogeneous_vocab": true}'
)
SIZE_DIFFERENCE = 128  # SPEC_VOCAB_MAX_SIZE_DIFFERENCE
FIRST_COMPARED = 5  # SPEC_VOCAB_CHECK_START_TOKEN_ID


def refusal(target: str, draft: str, reason: str | None) -> BadInputError:
    """Return the error for a draft that cannot draft for this target."""
    return BadInputError(
        f"{draft} cannot draft for {target}: {reason}. "
        "Choose a draft of the same family; `python -m harness models` lists compatible pairs. "
        f"{OTHER_VOCABULARIES}"
    )


def difference(target: Path, draft: Path) -> str | None:
    """Return the first condition that a GGUF file does not meet as a draft; `None` if it fits.

    Raises `BadInputError` if a file is not GGUF.
    """
    (ours, words), (theirs, others) = map(vocabulary_and_tokens, (target, draft))
    found = next(_differences(ours, theirs), None)
    if found is None and ours.sha256 != theirs.sha256:
        return other_text(*([*map(_as_loaded, each, range(len(each)))] for each in (words, others)))
    return found


def _differences(target: Vocabulary, draft: Vocabulary) -> Iterator[str]:
    kinds = [
        TOKENIZERS[each.kind].type if each.kind in TOKENIZERS else each.kind
        for each in (target, draft)
    ]
    if kinds[0] != kinds[1]:
        yield f"the target's vocabulary is {kinds[0]}, the draft's {kinds[1]}"
    for word, adds, ids in (
        ("BOS", (target.add_bos, draft.add_bos), (target.bos, draft.bos)),
        ("EOS", (target.add_eos, draft.add_eos), (target.eos, draft.eos)),
    ):
        if adds[0] != adds[1]:
            verb = "adds" if adds[0] else "does not add"
            yield f"the target {verb} {word}, unlike the draft"
        elif adds[0] and ids[0] != ids[1]:
            yield f"{word} is token {ids[0]} in the target and {ids[1]} in the draft"
    if abs(target.size - draft.size) > SIZE_DIFFERENCE:
        yield (
            f"the target's vocabulary has {target.size} tokens, the draft's {draft.size}; the "
            f"sizes may differ by {SIZE_DIFFERENCE}"
        )


def other_text(target: Sequence[object], draft: Sequence[object]) -> str | None:
    """Return the first token from 5 up with another text in the draft; `None` if there is none.

    The texts are in the order of their ids; ids without a text (`None`) are skipped.
    """
    for token, (ours, theirs) in enumerate(zip(target, draft, strict=False)):
        if token >= FIRST_COMPARED and None not in (ours, theirs) and ours != theirs:
            return f"token {token} is {ours!r} in the target and {theirs!r} in the draft"
    return None


def _as_loaded(text: bytes, token: int) -> str:
    """Return a token's text as llama.cpp compares it: up to a zero byte; a placeholder if empty."""
    loaded = text.partition(b"\0")[0] if text else f"[EMPTY_{token}]".encode()
    return loaded.decode(errors="replace")
