"""Who proposes tokens? One drafter per method of the in-process runner."""

import random
from collections.abc import Sequence

from harness.runners.inprocess.context import Context


class NgramIndex:
    """Where each n-gram of a growing token sequence was seen last.

    Appending one token costs one dictionary entry per n-gram length, so that drafting costs
    microseconds however long the text is.
    """

    def __init__(self, *, ngram_min: int, ngram_max: int) -> None:
        self._lengths = range(ngram_min, ngram_max + 1)
        self._tokens: list[int] = []
        self._seen: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def extend(self, tokens: Sequence[int]) -> None:
        """Append tokens; each n-gram is indexed once a token follows it."""
        for token in tokens:
            end = len(self._tokens)
            for length in self._lengths:
                if length <= end:
                    self._seen[tuple(self._tokens[end - length : end])] = end
            self._tokens.append(token)

    def draft(self, limit: int) -> list[int]:
        """At most `limit` tokens that followed the latest occurrence of the longest tail."""
        for length in reversed(self._lengths):
            start = self._seen.get(tuple(self._tokens[-length:]))
            if start is not None and length <= len(self._tokens):
                return self._tokens[start : start + limit]
        return []


class NoDrafter:
    """The baseline: nothing is proposed, every round is a single step."""

    def draft(self, text: Sequence[int], limit: int) -> list[int]:  # noqa: ARG002
        """Nothing."""
        return []


class PromptLookupDrafter:
    """Proposes what followed the same words the last time. Made anew for every generation."""

    def __init__(self, *, n_max: int, ngram_min: int, ngram_max: int) -> None:
        self._n_max = n_max
        self._index = NgramIndex(ngram_min=ngram_min, ngram_max=ngram_max)

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """What followed the longest known tail of the text."""
        self._index.extend(text[len(self._index) :])
        return self._index.draft(min(limit, self._n_max))


class OracleDrafter:
    """A control: proposes the known answer, spoiled so that a set share of it is right.

    Each token is left right with the given probability, independently, so that the true
    acceptance is known. Drafting costs nothing.
    """

    def __init__(
        self, reference: Sequence[int], *, n_max: int, acceptance: float, seed: int
    ) -> None:
        self._reference = reference
        self._n_max = n_max
        self._acceptance = acceptance
        self._rng = random.Random(seed)  # noqa: S311 - a control, not a secret

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """What the baseline wrote next, some of it replaced by the token before it in number."""
        right = self._reference[len(text) : len(text) + min(limit, self._n_max)]
        return [
            token if self._rng.random() < self._acceptance else abs(token - 1) for token in right
        ]


class ModelDrafter:
    """A small model proposes one token after the other and keeps its state for accepted ones."""

    def __init__(self, context: Context, prompt: Sequence[int], *, n_max: int) -> None:
        """Draft with a context that holds exactly the prompt."""
        self._context = context
        self._n_max = n_max
        self._fed = list(prompt)
        self._agreed = len(prompt)

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """The small model's own greedy continuation."""
        count = min(limit, self._n_max)
        if count <= 0:
            return []
        self._forget_rejected(text)
        draft: list[int] = []
        pending = list(text[len(self._fed) :])
        while len(draft) < count:
            token = self._context.advance(pending)
            self._fed += pending
            draft.append(token)
            pending = [token]
        return draft

    def _forget_rejected(self, text: Sequence[int]) -> None:
        """Roll back to what is part of the text; its last token is always fed again."""
        most = min(len(self._fed), len(text) - 1)
        while self._agreed < most and self._fed[self._agreed] == text[self._agreed]:
            self._agreed += 1
        self._context.keep(self._agreed)
        del self._fed[self._agreed :]
