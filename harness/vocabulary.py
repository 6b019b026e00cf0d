"""Can this draft propose tokens to this target? llama.cpp's rule, with an explanation.

Same kind of vocabulary, same flags for added BOS and EOS (and same ids where they are added),
sizes within 128, and the same text for every id from 5 up (common/speculative.cpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.gguf_header import Vocabulary

SIZE_DIFFERENCE = 128
FIRST_COMPARED = 5


def mismatch(
    target: Vocabulary,
    draft: Vocabulary,
    *,
    target_tokens: Callable[[], Sequence[bytes]],
    draft_tokens: Callable[[], Sequence[bytes]],
) -> str | None:
    """Why the draft does not fit, in one sentence, or `None` when it does.

    The token texts are asked for only when the digests differ, since reading them takes seconds.
    """
    said = _settings_differ(target, draft)
    if said is not None or target.sha256 == draft.sha256:
        return said
    return _texts_differ(target_tokens(), draft_tokens())


def _settings_differ(target: Vocabulary, draft: Vocabulary) -> str | None:
    if target.kind != draft.kind:
        return f"the target's vocabulary is of the kind {target.kind!r}, the draft's {draft.kind!r}"
    for name, added in (("bos", "add_bos"), ("eos", "add_eos")):
        wanted, has = getattr(target, added), getattr(draft, added)
        ids = getattr(target, name), getattr(draft, name)
        if wanted != has:
            verb = "adds" if wanted else "does not add"
            return f"the target {verb} {name.upper()}, the draft does the opposite"
        if wanted and ids[0] != ids[1]:
            return f"{name.upper()} is token {ids[0]} in the target and {ids[1]} in the draft"
    if abs(target.size - draft.size) > SIZE_DIFFERENCE:
        return (
            f"the target knows {target.size} tokens and the draft {draft.size}; "
            f"they may differ by {SIZE_DIFFERENCE}"
        )
    return None


def _texts_differ(target: Sequence[bytes], draft: Sequence[bytes]) -> str | None:
    for token in range(FIRST_COMPARED, min(len(target), len(draft))):
        if target[token] != draft[token]:
            words = target[token].decode(errors="replace"), draft[token].decode(errors="replace")
            return f"token {token} is {words[0]!r} in the target and {words[1]!r} in the draft"
    return None
