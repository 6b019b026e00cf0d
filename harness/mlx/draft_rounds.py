"""Count the rounds of an answer from `from_draft`, which `mlx_lm` reports for every token.

A round yields the accepted draft tokens and then one token of the target. Only the last round may
lack the target's token, if the limit or the end of the text came first. The round's last draft
token then counts as the target's, because the target chose that token too.
"""

from collections.abc import Sequence
from itertools import pairwise

from harness.runners.base import Totals


def totals(from_draft: Sequence[bool], *, limit: int, depth: int, decode_ms: float) -> Totals:
    """Return the totals of the rounds after the first token.

    `mlx_lm` drafts `depth` tokens per round, or fewer near the `limit`.
    """
    ends = [at for at, drafted in enumerate(from_draft, 1) if not drafted or at == len(from_draft)]
    rounds = list(pairwise((0, *ends)))
    accepted = [end - start - 1 for start, end in rounds]
    drafted = [min(depth, limit - start) for start, _ in rounds]
    return Totals(
        decode_ms=decode_ms,
        rounds=len(rounds),
        drafted=sum(drafted),
        accepted=sum(accepted),
        accepted_histogram=tuple(map(accepted.count, range(max(accepted, default=-1) + 1))),
        drafted_histogram=tuple(map(drafted.count, range(max(drafted, default=-1) + 1))),
    )
