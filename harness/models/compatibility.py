"""Check whether a draft is compatible with a target, by llama.cpp's rule, condition by condition.

The rule is `common_speculative_are_compatible` in llama.cpp's common/speculative.cpp: the same kind
of vocabulary; BOS added by both models or by neither, with the same id if added; the same for EOS;
sizes within 128; the same text for every shared id from 5 up. Ids below 5 may differ, since models
have special tokens there. Builds since 2026 refuse any other pair; builds of 2025 translated drafts
between vocabularies as text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import BadInputError

if TYPE_CHECKING:
    from harness.models.gguf_header import Vocabulary

# Since July 2026 (vllm-project/vllm#38174), with greedy drafts.
OTHER_VOCABULARIES = (
    "Only vLLM can draft with a different vocabulary, using the tokens that both models share: "
    '{"method": "draft_model", "use_heterogeneous_vocab": true}'
)
SIZE_DIFFERENCE = 128  # SPEC_VOCAB_MAX_SIZE_DIFFERENCE
FIRST_COMPARED = 5  # SPEC_VOCAB_CHECK_START_TOKEN_ID
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of the rule, with the finding as a clause without a full stop."""

    name: str
    holds: bool
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
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


def compare(
    target: "Vocabulary",
    draft: "Vocabulary",
    *,
    target_tokens: Callable[[], Sequence[bytes]],
    draft_tokens: Callable[[], Sequence[bytes]],
) -> Compatibility:
    """Apply the rule. Token texts are slow to read, so they are read only if the digests differ."""
    differing: tuple[Difference, ...] = ()
    if target.sha256 != draft.sha256:
        differing = _differences(target_tokens(), draft_tokens())
    conditions = {
        "kind": _kind(target, draft),
        "bos": _added("BOS", (target.add_bos, draft.add_bos), (target.bos, draft.bos)),
        "eos": _added("EOS", (target.add_eos, draft.add_eos), (target.eos, draft.eos)),
        "size": _size(target, draft),
        "texts": _texts(differing, min(target.size, draft.size)),
    }
    points = [
        Condition(name=name, holds=holds, found=text) for name, (holds, text) in conditions.items()
    ]
    return Compatibility(
        points=tuple(points), differing=len(differing), differences=differing[:_SHOWN]
    )


def compare_files(target: Path, draft: Path) -> Compatibility:
    """Apply the rule to two GGUF files. Raises `BadInputError` if a file is not GGUF."""
    from harness.models.gguf_header import vocabulary_and_tokens  # noqa: PLC0415 - slow to import

    (ours, words), (theirs, others) = map(vocabulary_and_tokens, (target, draft))
    return compare(ours, theirs, target_tokens=lambda: words, draft_tokens=lambda: others)


def _kind(target: "Vocabulary", draft: "Vocabulary") -> tuple[bool, str]:
    """Compare the kinds of vocabulary, named as in llama.cpp or else as in the files."""
    from harness.models.gguf_header import TOKENIZERS  # noqa: PLC0415 - slow to import

    ours, theirs = (
        TOKENIZERS[each.kind].type if each.kind in TOKENIZERS else each.kind
        for each in (target, draft)
    )
    if ours == theirs:
        return True, f"both vocabularies are {ours}"
    return False, f"the target's vocabulary is {ours}, the draft's {theirs}"


def _added(
    word: str, adds: tuple[bool, bool], ids: tuple[int | None, int | None]
) -> tuple[bool, str]:
    if adds[0] != adds[1]:
        verb = "adds" if adds[0] else "does not add"
        return False, f"the target {verb} {word}, unlike the draft"
    if not adds[0]:
        return True, f"neither model adds {word}"
    if ids[0] == ids[1]:
        return True, f"both models add {word}, token {ids[0]}"
    return False, f"{word} is token {ids[0]} in the target and {ids[1]} in the draft"


def _size(target: "Vocabulary", draft: "Vocabulary") -> tuple[bool, str]:
    sizes = f"the target's vocabulary has {target.size} tokens, the draft's {draft.size}"
    if target.size == draft.size:
        sizes = f"both vocabularies have {target.size} tokens"
    holds = abs(target.size - draft.size) <= SIZE_DIFFERENCE
    return holds, f"{sizes}; the sizes may differ by {SIZE_DIFFERENCE}"


def _texts(differing: Sequence[Difference], shared: int) -> tuple[bool, str]:
    if not differing:
        return (
            True,
            f"tokens {FIRST_COMPARED} to {shared - 1} have the same texts in both vocabularies",
        )
    first = differing[0]
    found = f"{first.target!r} in the target and {first.draft!r} in the draft"
    return False, f"token {first.token} is {found}"


def _differences(target: Sequence[bytes], draft: Sequence[bytes]) -> tuple[Difference, ...]:
    return tuple(
        Difference(token=token, target=_readable(ours), draft=_readable(theirs))
        for token in range(FIRST_COMPARED, min(len(target), len(draft)))
        if target[token] != draft[token]
        and (ours := _as_loaded(target[token], token))
        != (theirs := _as_loaded(draft[token], token))
    )


def _as_loaded(text: bytes, token: int) -> bytes:
    """Return a token's text as llama.cpp compares it: up to a zero byte; a placeholder if empty."""
    return text.partition(b"\0")[0] if text else f"[EMPTY_{token}]".encode()


def _readable(text: bytes) -> str:
    return text.decode(errors="replace")
