"""Costs of rounds are compared only over trials with steady rounds."""

import pytest

from estimates.flags.observation import steady_length
from schemas.submission import Trial


@pytest.mark.parametrize(
    ("histogram", "length"),
    [
        ((0, 0, 0, 0, 20), 4),
        ((0, 1, 0, 0, 19), 4),  # the end of the output cut the last draft short
        ((95,), 0),
        ((93, 0, 0, 0, 2), None),  # two wide rounds cost as much as ten plain ones
        ((10, 0, 0, 0, 10), None),
    ],
)
def test_rounds_are_steady_when_nearly_all_drafted_the_same_length(
    histogram: tuple[int, ...], length: int | None
) -> None:
    trial = Trial(arm="a", prompt="p", block=0, order=0, outcome="ok", drafted_histogram=histogram)

    assert steady_length(trial) == length
