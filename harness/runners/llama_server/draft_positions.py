"""Read how many times each draft position was tried and accepted, from ik_llama.cpp's counts."""

from collections.abc import Sequence

from msgspec import Struct

from harness.runners.http import values
from harness.runners.http.counted_rounds import Counted, by_length


class ByDepth(Struct, frozen=True, kw_only=True):
    """The numbers of rounds that drafted, and that accepted, at least `depth` tokens."""

    depth: int
    draft_n: values.Count
    draft_n_accepted: values.Count


def counted_by_depth(listed: Sequence[ByDepth], stated: Counted) -> Counted:
    """Return the stated counts, with histograms of drafted and accepted lengths.

    A round with k accepted tokens is counted at each depth from 1 to k. The number of rounds that
    accepted exactly k tokens is therefore the count at depth k minus the count at depth k + 1;
    drafted tokens are counted in the same way.

    Raises `BadAnswerError` if the counts increase with the depth, or do not add up.
    """
    drafted = [entry.draft_n for entry in listed]
    accepted = [entry.draft_n_accepted for entry in listed]
    histogram = by_length(drafted[0], accepted)
    exactly = by_length(drafted[0], drafted[1:])
    consecutive = [entry.depth for entry in listed] == list(range(1, len(listed) + 1))
    if histogram is None or exactly is None or not consecutive:
        raise values.BadAnswerError(
            f"draft_by_depth counts {drafted} drafted and {accepted} accepted from depth 1 on; "
            "that is impossible, because fewer rounds reach a deeper token"
        )
    if (sum(drafted), sum(accepted)) != (stated.drafted, stated.accepted):
        raise values.BadAnswerError(
            f"draft_by_depth adds up to {sum(drafted)} drafted and {sum(accepted)} accepted, "
            f"but the answer states {stated.drafted} and {stated.accepted}"
        )
    return Counted(
        drafted=stated.drafted,
        accepted=stated.accepted,
        steps=drafted[0],
        histogram=histogram,
        lengths=tuple(
            length for length, rounds in enumerate(exactly, start=1) for _ in range(rounds)
        ),
    )
