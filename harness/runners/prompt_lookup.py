"""What did the text go on with the last time it looked like this? A drafter without a model.

The longest n-gram at the end of the text is searched further back; what followed its latest
occurrence is the draft (Saxena, "Prompt Lookup Decoding", 2023).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
