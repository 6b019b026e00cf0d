"""Check whether a draft is compatible with a target, by llama.cpp's rule, condition by condition.

The rule is `common_speculative_are_compatible` in llama.cpp's common/speculative.cpp: the same kind
of vocabulary; BOS added by both or by neither, and the same id where it is added; likewise EOS;
sizes within 128; the same text for every id from 5 up that both have. The ids below 5 may differ,
since models keep their special tokens there. Builds from 2026 on refuse any other pair; those of
2025 translated its tokens through text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.models.gguf_header import Vocabulary

SIZE_DIFFERENCE = 128  # SPEC_VOCAB_MAX_SIZE_DIFFERENCE
FIRST_COMPARED = 5  # SPEC_VOCAB_CHECK_START_TOKEN_ID
_SHOWN = 3

# llama.cpp's name for `tokenizer.ggml.model` (`llama_vocab::impl::load` in src/llama-vocab.cpp).
_TYPES = {
    "llama": "SPM",
    "bert": "WPM",
    "gpt2": "BPE",
    "hybriddna": "BPE",
    "whitespace": "BPE",
    "gemma4": "BPE",
    "t5": "UGM",
    "rwkv": "RWKV",
    "plamo2": "PLaMo2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of the rule, and what was found for it, as a clause without a full stop."""

    name: Literal["kind", "bos", "eos", "size", "texts"]
    holds: bool
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A token id that means one text to the target and another to the draft."""

    token: int
    target: str
    draft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """Every condition of the rule. `differing` counts ids; `differences` has the first of them."""

    points: tuple[Condition, ...]
    differing: int
    differences: tuple[Difference, ...]

    @property
    def fits(self) -> bool:
        """Whether the draft can propose tokens to the target."""
        return all(point.holds for point in self.points)

    @property
    def reason(self) -> str | None:
        """The first condition that does not hold, which is where llama.cpp stops."""
        return next((point.found for point in self.points if not point.holds), None)


def compare(
    target: Vocabulary,
    draft: Vocabulary,
    *,
    target_tokens: Callable[[], Sequence[bytes]],
    draft_tokens: Callable[[], Sequence[bytes]],
) -> Compatibility:
    """Apply the rule to two vocabularies.

    The token texts are read only if the digests differ, since reading them takes seconds.
    """
    differing: tuple[Difference, ...] = ()
    if target.sha256 != draft.sha256:
        differing = _differences(target_tokens(), draft_tokens())
    points = (
        _kind(target, draft),
        _added("bos", target, draft),
        _added("eos", target, draft),
        _size(target, draft),
        _texts(differing, min(target.size, draft.size)),
    )
    return Compatibility(points=points, differing=len(differing), differences=differing[:_SHOWN])


def type_name(vocabulary: Vocabulary) -> str:
    """The kind of a vocabulary in llama.cpp's words, or in the file's own if it has none."""
    return _TYPES.get(vocabulary.kind, vocabulary.kind)


def _kind(target: Vocabulary, draft: Vocabulary) -> Condition:
    kinds = type_name(target), type_name(draft)
    if kinds[0] == kinds[1]:
        return Condition(name="kind", holds=True, found=f"both vocabularies are {kinds[0]}")
    found = f"the target's vocabulary is {kinds[0]}, the draft's {kinds[1]}"
    return Condition(name="kind", holds=False, found=found)


def _added(name: Literal["bos", "eos"], target: Vocabulary, draft: Vocabulary) -> Condition:
    ids = (target.bos, draft.bos) if name == "bos" else (target.eos, draft.eos)
    adds = (target.add_bos, draft.add_bos) if name == "bos" else (target.add_eos, draft.add_eos)
    word = name.upper()
    if adds[0] != adds[1]:
        verb = "adds" if adds[0] else "does not add"
        found = f"the target {verb} {word}, the draft does the opposite"
        return Condition(name=name, holds=False, found=found)
    if not adds[0]:
        return Condition(name=name, holds=True, found=f"neither adds {word}")
    if ids[0] == ids[1]:
        return Condition(name=name, holds=True, found=f"both add {word}, token {ids[0]}")
    found = f"{word} is token {ids[0]} in the target and {ids[1]} in the draft"
    return Condition(name=name, holds=False, found=found)


def _size(target: Vocabulary, draft: Vocabulary) -> Condition:
    sizes = f"the target knows {target.size} tokens and the draft {draft.size}"
    holds = abs(target.size - draft.size) <= SIZE_DIFFERENCE
    if target.size == draft.size:
        sizes = f"both know {target.size} tokens"
    return Condition(
        name="size", holds=holds, found=f"{sizes}; they may differ by {SIZE_DIFFERENCE}"
    )


def _texts(differing: Sequence[Difference], shared: int) -> Condition:
    if not differing:
        found = f"the ids from {FIRST_COMPARED} to {shared - 1} have the same texts"
        return Condition(name="texts", holds=True, found=found)
    first = differing[0]
    found = (
        f"token {first.token} is {first.target!r} in the target and {first.draft!r} in the draft"
    )
    return Condition(name="texts", holds=False, found=found)


def _differences(target: Sequence[bytes], draft: Sequence[bytes]) -> tuple[Difference, ...]:
    return tuple(
        Difference(token=token, target=_readable(ours), draft=_readable(theirs))
        for token in range(FIRST_COMPARED, min(len(target), len(draft)))
        if target[token] != draft[token]
        and (ours := _as_loaded(target[token], token))
        != (theirs := _as_loaded(draft[token], token))
    )


def _as_loaded(text: bytes, token: int) -> bytes:
    """A token's text as llama.cpp compares it: named when empty, and up to a zero byte (strcmp)."""
    return text.partition(b"\0")[0] if text else f"[EMPTY_{token}]".encode()


def _readable(text: bytes) -> str:
    return text.decode(errors="replace")
