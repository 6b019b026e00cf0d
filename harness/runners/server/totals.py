"""How many rounds were in an answer? From its own counters, checked against the metrics page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.runners.base import Totals

if TYPE_CHECKING:
    from harness.runners.server.answer import Completion
    from harness.runners.server.counters import Counters


def totals(done: Completion, *, speculates: bool, counted: Counters | None) -> Totals:
    """The rounds of an answer; the histogram from `counted`, the server's metrics meanwhile.

    An answer that does not speak of drafts drafted nothing. Each pass of the target yields one
    token beside the accepted ones, and the first token came from the prompt. Where the page counted
    something else than the answer, the answer holds, and what the page counted is kept beside it.
    """
    drafted = (done.drafted or 0) if speculates else 0
    accepted = (done.accepted or 0) if speculates else 0
    rounds = done.output_tokens - 1 - accepted
    told = Totals(
        decode_ms=done.decode_ms,
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        accepted_histogram=None if accepted else (rounds,),
    )
    if not speculates or counted is None:
        return told
    if (counted.drafted, counted.accepted) != (drafted, accepted):
        return replace(told, metrics_drafted=counted.drafted, metrics_accepted=counted.accepted)
    return replace(told, accepted_histogram=counted.accepted_histogram(rounds - counted.rounds))
