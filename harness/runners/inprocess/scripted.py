"""Instruments: draft from the baseline's answer, with a given acceptance."""

import random
from collections.abc import Sequence

from schemas.codec import token_digest

_ROUNDING = 1e-9


class OracleDrafter:
    """A control: proposes the known answer, changed so that a set share of it is right.

    Each place of an answer is left right with the given probability, independently, so that the
    true acceptance is known. As with a real draft, a place is right or wrong whatever the depth.
    Drafting costs nothing.
    """

    def __init__(
        self, reference: Sequence[int], *, n_max: int, acceptance: float, seed: int
    ) -> None:
        # Of each answer its own draws: the same ones for all would make one prompt of many.
        rng = random.Random(f"{seed} {token_digest(reference)}")  # noqa: S311 - a control, not a secret
        self._n_max = n_max
        self._proposed = [
            token if rng.random() < acceptance else abs(token - 1) for token in reference
        ]

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """What the baseline wrote next, some of it replaced by the token before it in number."""
        return self._proposed[len(text) : len(text) + min(limit, self._n_max)]


class ForcedScript:
    """Drafts of which the target accepts so many that a round yields `length` tokens on average.

    The number accepted alternates between the two whole ones around it, so that the mean is exact.
    """

    def __init__(self, reference: Sequence[int], *, n_max: int, length: float) -> None:
        self._reference = reference
        self._n_max = n_max
        self._per_round = length - 1
        self._owed = 0.0

    def __call__(self, text: Sequence[int], limit: int) -> list[int]:
        """The baseline's next tokens, and wrong ones after those that are to be accepted."""
        right = self._reference[len(text) : len(text) + min(limit, self._n_max)]
        self._owed += self._per_round
        accepted = min(int(self._owed + _ROUNDING), len(right))
        self._owed = min(self._owed - accepted, 1.0)
        return [*right[:accepted], *(abs(token - 1) for token in right[accepted:])]


class ScriptDrafter:
    """Proposes what a script says; drafting costs nothing."""

    def __init__(self, script: ForcedScript) -> None:
        self._script = script

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """The script's tokens."""
        return self._script(text, limit)
