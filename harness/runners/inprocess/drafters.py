"""A drafter for each method, and test drafters that are given the baseline's answer."""

import random
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from harness.runners.inprocess.context import Context
from schemas.codec import token_digest

_ROUNDING = 1e-9


class NoDrafter:
    """The baseline's drafter: it proposes no tokens, so every round is a single step."""

    def draft(self, text: Sequence[int], limit: int) -> list[int]:  # noqa: ARG002
        return []


class PromptLookupDrafter:
    """Proposes the tokens that followed the last occurrence of the same n-gram.

    Each generation needs its own drafter.
    """

    def __init__(self, *, n_max: int, ngram_min: int, ngram_max: int) -> None:
        self._n_max = n_max
        self._lengths = range(ngram_min, ngram_max + 1)
        self._tokens: list[int] = []
        self._seen: dict[tuple[int, ...], int] = {}

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """Return the tokens after the last occurrence of the text's longest known suffix."""
        self._extend(text[len(self._tokens) :])
        for length in reversed(self._lengths):
            start = self._seen.get(tuple(self._tokens[-length:]))
            if start is not None and length <= len(self._tokens):
                return self._tokens[start : start + min(limit, self._n_max)]
        return []

    def _extend(self, tokens: Sequence[int]) -> None:
        """Append tokens. An n-gram is indexed once a token follows it."""
        for token in tokens:
            end = len(self._tokens)
            for length in self._lengths:
                if length <= end:
                    self._seen[tuple(self._tokens[end - length : end])] = end
            self._tokens.append(token)


class OracleDrafter:
    """A test drafter: proposes the known answer, with errors at random positions.

    Each position is correct with the given probability, independently, so that the true acceptance
    is known. As with a real draft, whether a position is correct does not depend on the depth.
    Drafting costs nothing.
    """

    def __init__(
        self, reference: Sequence[int], *, n_max: int, acceptance: float, seed: int
    ) -> None:
        # Seed each answer separately: one seed would repeat the same drafts.
        rng = random.Random(f"{seed} {token_digest(reference)}")  # noqa: S311 - a control, not a secret
        self._n_max = n_max
        self._proposed = [
            token if rng.random() < acceptance else abs(token - 1) for token in reference
        ]

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """Return the baseline's next tokens, some of them replaced by wrong tokens."""
        return self._proposed[len(text) : len(text) + min(limit, self._n_max)]


@dataclass(slots=True)
class ScriptDrafter:
    """A test drafter whose drafts yield `length` tokens per round on average.

    The number of accepted tokens alternates between the two nearest integers, so that the mean is
    exact. Drafting costs nothing.
    """

    reference: Sequence[int]
    _: KW_ONLY
    n_max: int
    length: float
    owed: float = 0.0

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """Return the baseline's next tokens up to the accepted length, then wrong tokens."""
        right = self.reference[len(text) : len(text) + min(limit, self.n_max)]
        self.owed += self.length - 1
        accepted = min(int(self.owed + _ROUNDING), len(right))
        self.owed = min(self.owed - accepted, 1.0)
        return [*right[:accepted], *(abs(token - 1) for token in right[accepted:])]


@dataclass
class ModelDrafter:
    """Drafts token by token with a small model; accepted tokens stay in the model's state.

    At first, the model's context must contain exactly the prompt, which took `prompt_ms` to
    process. With a script, the model does the same work but the script's tokens are proposed.
    """

    context: Context
    prompt: Sequence[int]
    _: KW_ONLY
    n_max: int
    prompt_ms: float | None = None
    script: ScriptDrafter | None = None

    def __post_init__(self) -> None:
        self._fed, self._agreed = list(self.prompt), len(self.prompt)

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """Return the small model's greedy continuation."""
        count = min(limit, self.n_max)
        if count <= 0:
            return []
        self._forget_rejected(text)
        scripted = [] if self.script is None else self.script.draft(text, count)
        draft: list[int] = []
        pending = list(text[len(self._fed) :])
        while len(draft) < count:
            token = self.context.advance(pending)
            self._fed += pending
            draft.append(scripted[len(draft)] if len(draft) < len(scripted) else token)
            pending = [draft[-1]]
        return draft

    def _forget_rejected(self, text: Sequence[int]) -> None:
        """Roll back to the prefix shared with the text; the text's last token is fed again."""
        most = min(len(self._fed), len(text) - 1)
        while self._agreed < most and self._fed[self._agreed] == text[self._agreed]:
            self._agreed += 1
        self.context.truncate(self._agreed)
        del self._fed[self._agreed :]
