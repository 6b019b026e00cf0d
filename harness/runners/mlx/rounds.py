"""Count the rounds of an answer from `from_draft`, which `mlx_lm` states of every token.

A round feeds the newest token and its draft to the target, yields the accepted drafts and then one
token of the target. Only the last round may lack that one: the limit or the end of the text came
before it. Its last draft then counts as the target's token, which chose it too.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from harness.runners.base import Totals


def totals(from_draft: Sequence[bool], *, limit: int, depth: int, decode_ms: float) -> Totals:
    """The sums of the tokens after the first one.

    `mlx_lm` drafts `depth` tokens a round, and no more than are left up to the `limit`.
    """
    ends = [at for at, drafted in enumerate(from_draft, 1) if not drafted]
    if from_draft and from_draft[-1]:
        ends.append(len(from_draft))
    rounds = [(min(depth, limit - start), end - start - 1) for start, end in pairwise((0, *ends))]
    return Totals(
        decode_ms=decode_ms,
        rounds=len(rounds),
        full_rounds=sum(0 < drafted == accepted for drafted, accepted in rounds),
        drafted=sum(drafted for drafted, _ in rounds),
        accepted=sum(accepted for _, accepted in rounds),
        accepted_histogram=_histogram(accepted for _, accepted in rounds),
        drafted_histogram=_histogram(drafted for drafted, _ in rounds),
    )


def _histogram(lengths: Iterable[int]) -> tuple[int, ...] | None:
    """Rounds by length, without zeros at the end; `None` without rounds."""
    found = list(lengths)
    return tuple(found.count(each) for each in range(max(found) + 1)) if found else None
