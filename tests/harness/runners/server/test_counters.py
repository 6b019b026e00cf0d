"""Counters are read before and after a request; the difference is that request's histogram."""

from harness.runners.http.counters import Counters, read_counters

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


def test_the_counters_of_llama_cpp_are_read() -> None:
    assert read_counters(LLAMA) == Counters(
        rounds=6, drafted=24, accepted=11, accepted_at=(5, 4, 2)
    )


def test_the_counters_of_vllm_are_read() -> None:
    assert read_counters(VLLM) == Counters(rounds=3, drafted=15, accepted=4, accepted_at=(3, 1))


def test_a_page_without_speculation_has_no_counters() -> None:
    assert read_counters("llamacpp:tokens_predicted_total 40\n") is None


def test_two_readings_give_what_happened_between() -> None:
    before = Counters(rounds=6, drafted=24, accepted=11, accepted_at=(5, 4))
    after = Counters(rounds=9, drafted=36, accepted=18, accepted_at=(8, 6, 2))

    between = after.since(before)

    assert between == Counters(rounds=3, drafted=12, accepted=7, accepted_at=(3, 2, 2))


def test_counts_by_position_become_rounds_by_accepted_length() -> None:
    # Of 6 rounds 5 took the first token, 4 the second, 2 the third: 1 took none, 1 one, 2 two
    # and 2 three. Two more rounds had no draft.
    counters = Counters(rounds=6, drafted=24, accepted=11, accepted_at=(5, 4, 2))

    assert counters.accepted_histogram(2) == (3, 1, 2, 2)


def test_positions_that_nobody_reached_are_left_out() -> None:
    counters = Counters(rounds=3, drafted=12, accepted=3, accepted_at=(3, 0, 0))

    assert counters.accepted_histogram(0) == (0, 3)


def test_counts_that_cannot_be_are_no_histogram() -> None:
    counters = Counters(rounds=3, drafted=12, accepted=9, accepted_at=(4, 5))

    assert counters.accepted_histogram(0) is None


def test_an_engine_that_does_not_count_by_position_gives_no_histogram() -> None:
    assert Counters(rounds=3, drafted=12, accepted=9).accepted_histogram(0) is None
