"""Is an interval said so that nobody is misled by its digits?"""

from __future__ import annotations

import pytest

from estimates.wording import bound_text, interval_text


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.614, 0.716, "[0.61, 0.72]"),
        (0.000002, 5_259_230.6, "[<0.1, >10]"),
        (0.1, 10.0, "[0.10, 10.00]"),
        (0.0999, 10.001, "[<0.1, >10]"),
        (12.0, 14.0, "[>10, >10]"),
    ],
)
def test_beyond_a_factor_of_ten_only_that_is_said(low: float, high: float, said: str) -> None:
    assert interval_text(low, high) == said


def test_a_bound_has_two_decimals() -> None:
    assert bound_text(1) == "1.00"
