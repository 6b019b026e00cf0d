"""Check whether a draft is compatible with a target, by llama.cpp's rule, condition by condition.

The rule is `common_speculative_are_compatible` in llama.cpp's common/speculative.cpp: the same kind
of vocabulary; BOS added by both models or by neither, with the same id if added; the same for EOS;
sizes within 128; the same text for every shared id from 5 up. Ids below 5 may differ, since models
have special tokens there. Builds since 2026 refuse any other pair; builds of 2025 translated drafts
between vocabularies as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of the rule, with the finding as a clause without a full stop."""

    name: str
    holds: bool
    found: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A token id whose text differs between target and draft."""

    token: int
    target: str
    draft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """Every condition of the rule. `differing` counts ids; `differences` lists the first few."""

    points: tuple[Condition, ...]
    differing: int
    differences: tuple[Difference, ...]

    @property
    def fits(self) -> bool:
        """Whether the draft can propose tokens to the target."""
        return all(point.holds for point in self.points)

    @property
    def reason(self) -> str | None:
        """The first condition that is not met, where llama.cpp stops too."""
        return next((point.found for point in self.points if not point.holds), None)


def refusal(target: str, draft: str, reason: str | None) -> BadInputError:
    """Return the error for a draft that cannot draft for this target."""
    return BadInputError(
        f"{draft} cannot draft for {target}: {reason}. "
        "Choose a draft of the same family; `python -m harness models` lists compatible pairs. "
        f"{OTHER_VOCABULARIES}"
    )


def compare_files(target: Path, draft: Path) -> Compatibility:
    """Apply the rule to two GGUF files. Raises `BadInputError` if a file is not GGUF."""
    (ours, words), (theirs, others) = map(vocabulary_and_tokens, (target, draft))
    differing = () if ours.sha256 == theirs.sha256 else _differences(words, others)
    points = (
        _kind(ours, theirs),
        _added("BOS", (ours.add_bos, theirs.add_bos), (ours.bos, theirs.bos)),
        _added("EOS", (ours.add_eos, theirs.add_eos), (ours.eos, theirs.eos)),
        _size(ours.size, theirs.size),
        _texts(differing, min(ours.size, theirs.size)),
    )
    return Compatibility(points=points, differing=len(differing), differences=differing[:_SHOWN])


def _kind(target: Vocabulary, draft: Vocabulary) -> Condition:
    """Compare the kinds of vocabulary, named as in llama.cpp or else as in the files."""
    ours, theirs = (
        TOKENIZERS[each.kind].type if each.kind in TOKENIZERS else each.kind
        for each in (target, draft)
    )
    found = f"the target's vocabulary is {ours}, the draft's {theirs}"
    if ours == theirs:
        found = f"both vocabularies are {ours}"
    return Condition("kind", ours == theirs, found)


def _added(word: str, adds: tuple[bool, bool], ids: tuple[int | None, int | None]) -> Condition:
    verb = "adds" if adds[0] else "does not add"
    if adds[0] != adds[1]:
        holds, found = False, f"the target {verb} {word}, unlike the draft"
    elif not adds[0]:
        holds, found = True, f"neither model adds {word}"
    elif ids[0] == ids[1]:
        holds, found = True, f"both models add {word}, token {ids[0]}"
    else:
        holds, found = False, f"{word} is token {ids[0]} in the target and {ids[1]} in the draft"
    return Condition(word.lower(), holds, found)


def _size(target: int, draft: int) -> Condition:
    sizes = f"the target's vocabulary has {target} tokens, the draft's {draft}"
    if target == draft:
        sizes = f"both vocabularies have {target} tokens"
    found = f"{sizes}; the sizes may differ by {SIZE_DIFFERENCE}"
    return Condition("size", abs(target - draft) <= SIZE_DIFFERENCE, found)


def _texts(differing: Sequence[Difference], shared: int) -> Condition:
    found = f"tokens {FIRST_COMPARED} to {shared - 1} have the same texts in both vocabularies"
    if differing:
        first = differing[0]
        texts = f"{first.target!r} in the target and {first.draft!r} in the draft"
        found = f"token {first.token} is {texts}"
    return Condition("texts", not differing, found)


def _differences(target: Sequence[bytes], draft: Sequence[bytes]) -> tuple[Difference, ...]:
    return tuple(
        Difference(token, ours.decode(errors="replace"), theirs.decode(errors="replace"))
        for token in range(FIRST_COMPARED, min(len(target), len(draft)))
        if target[token] != draft[token]
        and (ours := _as_loaded(target[token], token))
        != (theirs := _as_loaded(draft[token], token))
    )


def _as_loaded(text: bytes, token: int) -> bytes:
    """Return a token's text as llama.cpp compares it: up to a zero byte; a placeholder if empty."""
    return text.partition(b"\0")[0] if text else f"[EMPTY_{token}]".encode()
