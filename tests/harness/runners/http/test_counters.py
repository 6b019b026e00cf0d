"""An engine's counters become the format's: output_tokens = 1 + accepted + rounds."""

import pytest

from harness.runners.base import Totals
from harness.runners.http.counted_rounds import Counted, Counters, cut_off, read_counters, totals

LLAMA = """\
# TYPE llamacpp:spec_decode_num_drafts_total counter
llamacpp:spec_decode_num_drafts_total 6
llamacpp:spec_decode_draft_tokens_total 24
llamacpp:spec_decode_accepted_tokens_total 11
llamacpp:spec_decode_accepted_tokens_per_pos_total{position="0"} 5
llamacpp:spec_decode_accepted_tokens_per_pos_total{position="1"} 4
llamacpp:spec_decode_accepted_tokens_per_pos_total{position="2"} 2
llamacpp:tokens_predicted_total 40
"""
VLLM = """\
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 3.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.7e+09
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 15.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 4.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 3.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 1.0
"""
MISTRAL_RS = """\
mistralrs_speculative_drafts_total 6
mistralrs_speculative_draft_tokens_proposed_total 24
mistralrs_speculative_draft_tokens_accepted_total 11
"""


@pytest.mark.parametrize(
    ("page", "counters"),
    [
        (LLAMA, Counters(rounds=6, drafted=24, accepted=11, accepted_at=(5, 4, 2))),
        (VLLM, Counters(rounds=3, drafted=15, accepted=4, accepted_at=(3, 1))),
        (MISTRAL_RS, Counters(rounds=6, drafted=24, accepted=11)),
        ("llamacpp:tokens_predicted_total 40\n", None),  # no speculation
    ],
)
def test_the_counters_of_each_engine_are_read(page: str, counters: Counters | None) -> None:
    assert read_counters(page) == counters


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "many", "-3", "1e300", "1_0x"])
def test_counters_that_are_not_counts_are_ignored(value: str) -> None:
    assert read_counters(LLAMA.replace("_total 24", f"_total {value}")) is None


def test_a_position_beyond_every_draft_takes_no_memory() -> None:
    found = read_counters(LLAMA.replace('position="2"', 'position="300000000"'))

    assert found is not None
    assert found.accepted_at == (5, 4)


@pytest.mark.parametrize("lengths", [(10**9,), (-1, 10**9 + 1)])
def test_an_impossible_draft_length_makes_no_histogram(lengths: tuple[int, ...]) -> None:
    counted = Counted(drafted=10**9, accepted=0, steps=2, lengths=lengths)

    made = totals(decode_ms=1.0, output_tokens=9, counted=counted)

    assert made.drafted_histogram is None


NONE = Counters(rounds=0, drafted=0, accepted=0)


def test_two_readings_give_the_difference_between_them() -> None:
    before = Counters(rounds=6, drafted=24, accepted=11, accepted_at=(5, 4))
    after = Counters(rounds=9, drafted=36, accepted=18, accepted_at=(8, 6, 2))

    # Of 3 rounds 3 took the first token, 2 the second and 2 the third.
    assert after.since(before) == Counted(drafted=12, accepted=7, steps=3, histogram=(0, 1, 0, 2))


@pytest.mark.parametrize(
    ("accepted", "accepted_at", "histogram"),
    [
        # Of 6 rounds 5 took the first token, 4 the second, 2 the third.
        (11, (5, 4, 2), (1, 1, 2, 2)),
        (6, (6, 0, 0), (0, 6)),
        (10, (4, 6), None),  # counts that cannot be
        (9, (), None),  # an engine that does not count by position
    ],
)
def test_counts_by_position_become_rounds_by_accepted_length(
    accepted: int, accepted_at: tuple[int, ...], histogram: tuple[int, ...] | None
) -> None:
    page = Counters(rounds=6, drafted=24, accepted=accepted, accepted_at=accepted_at)

    assert page.since(NONE).histogram == histogram


def test_rounds_that_did_not_draft_are_counted_as_rounds_of_length_zero() -> None:
    # 20 tokens: the first, 4 drafting rounds with 6 accepted, and 9 plain ones: 1 + 10 + 9.
    counted = Counted(drafted=12, accepted=6, steps=4, histogram=(1, 1, 1, 1))

    made = totals(decode_ms=5.0, output_tokens=20, counted=counted)

    assert made == Totals(
        decode_ms=5.0, rounds=13, drafted=12, accepted=6, accepted_histogram=(10, 1, 1, 1)
    )


def test_accepted_tokens_beyond_the_limit_are_taken_off_the_last_round() -> None:
    # Rounds of 3 drafts accepted 3, 2 and 3 tokens: 1 + 4 + 3 + 4 = 12, cut at 10. The last
    # round's chunk held 2 tokens, so one of its three accepted tokens is in the output.
    counted = Counted(drafted=9, accepted=8, steps=3, histogram=(0, 0, 1, 2))

    made = totals(decode_ms=5.0, output_tokens=10, counted=counted, chunk_tokens=(1, 4, 3, 2))

    assert (made.rounds, made.accepted, made.drafted) == (3, 6, 9)
    assert made.accepted_histogram == (0, 1, 1, 1)


def test_chunks_show_truncation_that_plain_rounds_hide() -> None:
    # 2 plain rounds, one draft of which 3 were accepted: 1 + 2 + 4 = 7, cut at 5: one plain token,
    # then the other, then 2 of the 4. Steps alone (1) would allow 5 - 1 - 3 = 1 round.
    counted = Counted(drafted=3, accepted=3, steps=1, histogram=(0, 0, 0, 1))

    assert cut_off(counted, 5, (1, 1, 1, 2)) == 2
    assert cut_off(counted, 5, ()) == 0


@pytest.mark.parametrize(
    ("output_tokens", "depth", "cut"),
    [
        (13, 4, 3),  # 12 of 12 accepted in three rounds: 1 + 3 x (4 + 1) = 16, ended after 13
        (16, 4, 0),
        (13, None, 0),  # the depth of a chain is not known
        (13, 2, 0),  # six rounds would mean that six were cut, but a round accepts two
    ],
)
def test_an_answer_that_ends_within_a_draft_has_the_rounds_that_its_depth_demands(
    output_tokens: int, depth: int | None, cut: int
) -> None:
    counted = Counted(drafted=12, accepted=12, depth=depth)

    assert cut_off(counted, output_tokens, ()) == cut


def test_without_the_last_rounds_length_the_histogram_is_unknown() -> None:
    counted = Counted(drafted=9, accepted=8, steps=3, histogram=(0, 0, 1, 2))

    made = totals(decode_ms=5.0, output_tokens=10, counted=counted)

    assert (made.rounds, made.accepted) == (3, 6)
    assert made.accepted_histogram is None


@pytest.mark.parametrize("drafted", [0, 27])
def test_without_accepted_drafts_all_rounds_have_length_zero(drafted: int) -> None:
    made = totals(decode_ms=5.0, output_tokens=10, counted=Counted(drafted=drafted, accepted=0))

    assert (made.rounds, made.drafted, made.accepted) == (9, drafted, 0)
    assert made.accepted_histogram == (9,)


def test_uncounted_tokens_are_unknown_and_not_zero() -> None:
    assert totals(decode_ms=5.0, output_tokens=10, counted=None) == Totals(decode_ms=5.0)


@pytest.mark.parametrize(
    ("page", "kept"),
    [((12, 6), (None, None)), ((13, 6), (13, 6)), ((12, 5), (12, 5))],
)
def test_a_disagreeing_metrics_page_is_recorded(
    page: tuple[int, int], kept: tuple[int | None, int | None]
) -> None:
    counted = Counted(drafted=12, accepted=6, steps=4, histogram=(1, 1, 1, 1))
    counters = Counted(steps=4, drafted=page[0], accepted=page[1])

    made = totals(decode_ms=5.0, output_tokens=20, counted=counted, page=counters)

    assert (made.metrics_drafted, made.metrics_accepted) == kept
    assert (made.drafted, made.accepted) == (12, 6)


@pytest.mark.parametrize(
    ("lengths", "histogram"),
    [
        # Ten rounds, three of which drafted; one drafted a single token.
        ((4, 1, 4), (7, 1, 0, 0, 2)),
        ((4, 4), None),  # nine were drafted
        ((1,) * 9 + (0, 0), None),  # more than the rounds
        (None, None),
    ],
)
def test_the_depths_of_an_engine_that_changes_them_are_a_histogram(
    lengths: tuple[int, ...] | None, histogram: tuple[int, ...] | None
) -> None:
    counted = Counted(drafted=9, accepted=5, steps=3, lengths=lengths)

    made = totals(decode_ms=1.0, output_tokens=16, counted=counted)

    assert made.rounds == 10
    assert made.drafted_histogram == histogram


@pytest.mark.parametrize("depth", [5, None])
def test_counts_with_more_accepted_than_drafted_tokens_are_ignored(depth: int | None) -> None:
    # The truth: 11 rounds drafted 55 and accepted 20, so 1 + 11 + 20 tokens. Counted twice, 31 of
    # 40 accepted tokens would be cut off the last round, of a depth of 5, or of at most 10 if only
    # the mean of 5 is known.
    truth = Counted(drafted=55, accepted=20, steps=11)
    twice = Counted(drafted=110, accepted=40, steps=22)

    right = totals(decode_ms=5.0, output_tokens=32, counted=truth, depth=depth)
    wrong = totals(decode_ms=5.0, output_tokens=32, counted=twice, depth=depth)

    assert (right.rounds, right.drafted, right.accepted) == (11, 55, 20)
    assert wrong == Totals(decode_ms=5.0)


def test_counters_that_occur_twice_on_a_page_are_ignored() -> None:
    assert read_counters(VLLM + VLLM.replace('engine="0"', 'engine="1"')) is not None
    assert read_counters(VLLM + VLLM) is None
