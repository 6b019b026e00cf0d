"""What if the text were known? A target that is made to write the baseline's tokens.

Teacher forcing: the engine does all the work of a step, then the truth decides what is accepted and
how the text goes on. Texts are equal by construction, so the acceptance is not blurred by a fork,
and what the engine would have chosen itself is kept to be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.runners.loop import Target


class ForcedTarget:
    """A target whose choices are replaced by a given text; `own` collects what they were.

    `text` is the prompt and the whole answer, `held` the tokens of it that the target holds. Beyond
    the end of the text the target's own choices stand: nothing of them is kept.
    """

    def __init__(self, target: Target, text: Sequence[int], *, held: int) -> None:
        self.own: list[int] = []
        self._target = target
        self._text = text
        self._held = held
        self._begin = held
        self._choices: list[int] = []

    def step(self, tokens: Sequence[int]) -> list[int]:
        """Let the target work; the text's token after each of the fed ones."""
        self._choices = self._target.step(tokens)
        first = self._held + 1
        truth = self._text[first : first + len(tokens)]
        self._begin, self._held = self._held, self._held + len(tokens)
        return [*truth, *self._choices[len(truth) :]]

    def keep(self, length: int) -> None:
        """Forget everything beyond the first `length` tokens; the choices up to there count."""
        self._target.keep(length)
        self.own += self._choices[: length - self._begin]
        self._held = length

    def is_end(self, token: int) -> bool:
        """Whether the token ends the output."""
        return self._target.is_end(token)

    def margins(self, count: int) -> list[float]:
        """Top-1 minus top-2 logit for the first `count` positions of the last step."""
        return self._target.margins(count)
