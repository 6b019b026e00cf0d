"""The time per token of a trial comes from its clock and its rounds."""

import pytest

from estimates.trial_times import clock, cpu_ms_per_token, ms_per_token, rounds
from tests.estimates.campaigns import failed, trial

# 2 rounds that drafted nothing at 10 ms and 3 that drafted two tokens at 20 ms: 80 ms in all.
TIMED_ROUNDS = trial(drafted_histogram=(2, 0, 3), round_ms_median=(10.0, 20.0), decode_ms=100.0)


def test_rounds_times_medians_are_divided_by_the_tokens_after_the_first() -> None:
    assert ms_per_token(TIMED_ROUNDS) == pytest.approx(8.0)


def test_a_stall_in_a_few_rounds_does_not_move_the_time_per_token() -> None:
    stalled = trial(drafted_histogram=(2, 0, 3), round_ms_median=(10.0, 20.0), decode_ms=9000.0)

    assert ms_per_token(stalled) == pytest.approx(8.0)


def test_without_medians_the_decode_time_counts() -> None:
    assert ms_per_token(trial(decode_ms=100.0)) == pytest.approx(10.0)


def test_the_decode_clock_can_be_asked_for() -> None:
    assert ms_per_token(TIMED_ROUNDS, "decode") == pytest.approx(10.0)


def test_a_single_token_has_no_time_per_token() -> None:
    assert ms_per_token(trial(output_tokens=1, decode_ms=0.0)) is None


def test_a_failed_trial_has_no_time_per_token() -> None:
    assert ms_per_token(failed()) is None


def test_two_trials_share_the_steady_clock_only_if_both_have_it() -> None:
    assert clock((TIMED_ROUNDS, TIMED_ROUNDS)) == "steady"
    assert clock((TIMED_ROUNDS, trial())) == "decode"


def test_processor_time_is_weighted_like_wall_time() -> None:
    both = trial(drafted_histogram=(2, 0, 3), round_cpu_ms_median=(20.0, 50.0))

    assert cpu_ms_per_token(both) == pytest.approx(19.0)


def test_unknown_processor_time_gives_no_time_per_token() -> None:
    assert cpu_ms_per_token(TIMED_ROUNDS) is None


def test_rounds_follow_from_the_accepted_tokens_when_they_were_not_counted() -> None:
    assert rounds(trial(output_tokens=11, accepted=4)) == 6
    assert rounds(trial(output_tokens=11)) is None
    assert rounds(trial(output_tokens=11, accepted=12)) is None
