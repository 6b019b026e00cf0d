"""An engine's counters become the format's: output_tokens = 1 + accepted + rounds."""

import pytest

from harness.runners.base import Totals
from harness.runners.http.counters import Counters
from harness.runners.openai.counters import Counted
from harness.runners.openai.rounds import cut_off, totals


def test_rounds_that_did_not_draft_are_counted_as_rounds_of_length_zero() -> None:
    # 20 tokens: the first, 4 drafting rounds with 6 accepted, and 9 plain ones: 1 + 10 + 9.
    counted = Counted(drafted=12, accepted=6, steps=4, histogram=(1, 1, 1, 1))

    made = totals(decode_ms=5.0, output_tokens=20, counted=counted)

    assert made == Totals(
        decode_ms=5.0, rounds=13, drafted=12, accepted=6, accepted_histogram=(10, 1, 1, 1)
    )


def test_accepted_tokens_that_no_longer_fitted_are_taken_off_the_last_round() -> None:
    # Rounds of 3 drafts accepted 3, 2 and 3 tokens: 1 + 4 + 3 + 4 = 12, cut at 10. The last
    # round's chunk held 2 tokens, so one of its three accepted tokens is in the output.
    counted = Counted(drafted=9, accepted=8, steps=3, histogram=(0, 0, 1, 2))

    made = totals(decode_ms=5.0, output_tokens=10, counted=counted, chunk_tokens=(1, 4, 3, 2))

    assert (made.rounds, made.accepted, made.drafted) == (3, 6, 9)
    assert made.accepted_histogram == (0, 1, 1, 1)


def test_chunks_show_what_was_cut_where_plain_rounds_hide_it() -> None:
    # 2 plain rounds, one draft of which 3 were accepted: 1 + 2 + 4 = 7, cut at 5: one plain token,
    # then the other, then 2 of the 4. Steps alone (1) would allow 5 - 1 - 3 = 1 round.
    counted = Counted(drafted=3, accepted=3, steps=1, histogram=(0, 0, 0, 1))

    assert cut_off(counted, 5, (1, 1, 1, 2)) == 2
    assert cut_off(counted, 5, ()) == 0


def test_without_the_last_rounds_length_the_histogram_is_unknown() -> None:
    counted = Counted(drafted=9, accepted=8, steps=3, histogram=(0, 0, 1, 2))

    made = totals(decode_ms=5.0, output_tokens=10, counted=counted)

    assert (made.rounds, made.accepted) == (3, 6)
    assert made.accepted_histogram is None


def test_an_arm_that_drafted_nothing_has_only_plain_rounds() -> None:
    made = totals(decode_ms=5.0, output_tokens=10, counted=Counted(drafted=0, accepted=0))

    assert (made.rounds, made.drafted, made.accepted) == (9, 0, 0)
    assert made.accepted_histogram == (9,)


def test_what_nobody_counted_is_unknown_and_not_zero() -> None:
    assert totals(decode_ms=5.0, output_tokens=10, counted=None) == Totals(decode_ms=5.0)


@pytest.mark.parametrize(
    ("page", "kept"),
    [((12, 6), (None, None)), ((13, 6), (13, 6)), ((12, 5), (12, 5))],
)
def test_the_page_is_kept_where_it_says_something_else(
    page: tuple[int, int], kept: tuple[int | None, int | None]
) -> None:
    counted = Counted(drafted=12, accepted=6, steps=4, histogram=(1, 1, 1, 1))
    counters = Counters(rounds=4, drafted=page[0], accepted=page[1])

    made = totals(decode_ms=5.0, output_tokens=20, counted=counted, page=counters)

    assert (made.metrics_drafted, made.metrics_accepted) == kept
    assert (made.drafted, made.accepted) == (12, 6)
