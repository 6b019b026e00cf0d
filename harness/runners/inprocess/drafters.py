"""Draft tokens: one drafter per method."""

from collections.abc import Sequence

from harness.runners.inprocess.context import Context
from harness.runners.inprocess.scripted import ForcedScript


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
    """Proposes what followed the same tokens the last time. Each generation has its own."""

    def __init__(self, *, n_max: int, ngram_min: int, ngram_max: int) -> None:
        self._n_max = n_max
        self._index = NgramIndex(ngram_min=ngram_min, ngram_max=ngram_max)

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """What followed the longest known tail of the text."""
        self._index.extend(text[len(self._index) :])
        return self._index.draft(min(limit, self._n_max))


class ModelDrafter:
    """A small model proposes one token after another; accepted ones stay in its state.

    With a script it does the same work and proposes what the script says.
    """

    def __init__(
        self,
        context: Context,
        prompt: Sequence[int],
        *,
        n_max: int,
        prompt_ms: float | None = None,
        script: ForcedScript | None = None,
    ) -> None:
        """Draft with a context that holds exactly the prompt; reading it took `prompt_ms`."""
        self._script = script
        self.prompt_ms = prompt_ms
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
        scripted = [] if self._script is None else self._script(text, count)
        draft: list[int] = []
        pending = list(text[len(self._fed) :])
        while len(draft) < count:
            token = self._context.advance(pending)
            self._fed += pending
            draft.append(scripted[len(draft)] if len(draft) < len(scripted) else token)
            pending = [draft[-1]]
        return draft

    def _forget_rejected(self, text: Sequence[int]) -> None:
        """Roll back to what is part of the text; its last token is always fed again."""
        most = min(len(self._fed), len(text) - 1)
        while self._agreed < most and self._fed[self._agreed] == text[self._agreed]:
            self._agreed += 1
        self._context.truncate(self._agreed)
        del self._fed[self._agreed :]
