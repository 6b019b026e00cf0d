"""Generate a text, with or without speculation: one greedy loop for in-process engines.

Counting: prompt processing yields the first token. Each round feeds the newest token and the draft
to the target, accepts the longest prefix on which both agree, and adds one token of the target. So
output tokens = 1 + accepted + rounds. A draft token that ends the output counts as the target's
token of its round, because the target chose it too.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.runners.base import Round


class Target(Protocol):
    """A target model whose state is a prefix of the text and can be rolled back."""

    def step(self, tokens: Sequence[int]) -> list[int]:
        """Feed tokens after the held prefix; return the greedy choice after each."""
        ...

    def truncate(self, length: int) -> None:
        """Forget everything beyond the first `length` tokens of the text."""
        ...

    def is_end(self, token: int) -> bool:
        """Whether the token ends the output."""
        ...

    def margins(self, count: int) -> list[float]:
        """Return the top logit minus the second, for the last step's first `count` positions."""
        ...


class Drafter(Protocol):
    """Proposes the next tokens of a text."""

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        """Return at most `limit` tokens to follow the text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Output tokens of one generation, their margins if requested, and the rounds."""

    tokens: tuple[int, ...]
    margins: tuple[float, ...] | None
    rounds: tuple[Round, ...]


def decode(
    *,
    target: Target,
    drafter: Drafter,
    prompt: Sequence[int],
    first: int,
    first_margin: float | None,
    max_output_tokens: int,
) -> Decoded:
    """Generate greedily until the output ends or has `max_output_tokens` tokens.

    The target's state must be exactly the prompt; `first` is the greedy choice after the prompt.
    Margins are read between rounds, outside all timed sections, and only if `first_margin` is
    given.
    """
    text = [*prompt, first]
    margins = None if first_margin is None else [first_margin]
    rounds: list[Round] = []
    while len(text) - len(prompt) < max_output_tokens and not target.is_end(text[-1]):
        remaining = max_output_tokens - (len(text) - len(prompt))
        done, fresh = _round(target, drafter, text, remaining)
        rounds.append(done)
        if margins is not None:
            margins += target.margins(len(fresh))
        text += fresh
    output = tuple(text[len(prompt) :])
    return Decoded(
        tokens=output,
        margins=None if margins is None else tuple(margins),
        rounds=tuple(rounds),
    )


def _round(
    target: Target, drafter: Drafter, text: list[int], remaining: int
) -> tuple[Round, list[int]]:
    """Run one draft-and-verify cycle; return its record, and the tokens that it adds."""
    cpu_began, began = time.process_time(), time.perf_counter()
    draft = drafter.draft(text, remaining - 1)
    drafted_at = time.perf_counter()
    choices = target.step([text[-1], *draft])
    verified_at = time.perf_counter()
    accepted = _agreeing(draft, choices, target)
    target.truncate(len(text) + accepted)
    ended, cpu_ended = time.perf_counter(), time.process_time()
    record = Round(
        drafted=len(draft),
        accepted=accepted,
        draft_ms=(drafted_at - began) * 1000,
        verify_ms=(verified_at - drafted_at) * 1000,
        round_ms=(ended - began) * 1000,
        cpu_ms=(cpu_ended - cpu_began) * 1000,
    )
    return record, choices[: accepted + 1]


def _agreeing(draft: list[int], choices: list[int], target: Target) -> int:
    """Return how many draft tokens the target would have chosen, up to the end of the output."""
    for index, token in enumerate(draft):
        if token != choices[index] or target.is_end(token):
            return index
    return len(draft)
