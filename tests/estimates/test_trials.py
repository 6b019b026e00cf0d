"""The time per token of a trial comes from its clock and its rounds."""

import pytest

from estimates.trial_times import clock, ms_per_token, rounds
from schemas.submission import Trial
from tests.estimates.campaigns import failed, trial

# 2 rounds that drafted nothing at 10 ms and 3 that drafted two tokens at 20 ms: 80 ms in all.
TIMED_ROUNDS = trial(drafted_histogram=(2, 0, 3), round_ms_median=(10.0, 20.0), decode_ms=100.0)


STALLED = trial(drafted_histogram=(2, 0, 3), round_ms_median=(10.0, 20.0), decode_ms=9000.0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (TIMED_ROUNDS, 8.0),  # over the tokens after the first
        (STALLED, 8.0),  # a stall in a few rounds does not move it
        (trial(decode_ms=100.0), 10.0),  # without medians
        (trial(output_tokens=1, decode_ms=0.0), None),
        (failed(), None),
    ],
)
def test_the_time_per_token_is_that_of_the_rounds_medians(
    made: Trial, expected: float | None
) -> None:
    found = ms_per_token(made)

    assert found == (None if expected is None else pytest.approx(expected))


def test_two_trials_share_the_steady_clock_only_if_both_have_it() -> None:
    assert ms_per_token(TIMED_ROUNDS, "decode") == pytest.approx(10.0)
    assert clock((TIMED_ROUNDS, TIMED_ROUNDS)) == "steady"
    assert clock((TIMED_ROUNDS, trial())) == "decode"


def test_rounds_follow_from_the_accepted_tokens_when_they_were_not_counted() -> None:
    assert rounds(trial(output_tokens=11, accepted=4)) == 6
    assert rounds(trial(output_tokens=11)) is None
    assert rounds(trial(output_tokens=11, accepted=12)) is None
