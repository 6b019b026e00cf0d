"""Figures are printed uniformly, with digits that do not mislead."""

import pytest

from schemas.vocabulary import say


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    [
        (0.614, 0.716, "[0.61, 0.72]"),
        (0.000002, 5_259_230.6, "[<0.1, >10]"),
        (0.1, 10.0, "[0.10, 10.00]"),
        (0.0999, 10.001, "[<0.1, >10]"),
        (12.0, 14.0, "[>10, >10]"),
        (1, 1, "[1.00, 1.00]"),
    ],
)
def test_beyond_a_factor_of_ten_an_interval_gives_only_that(
    low: float, high: float, printed: str
) -> None:
    assert say.interval(low, high) == printed


def test_a_speedup_has_its_interval_where_both_ends_are_known() -> None:
    assert say.speedup(1.339, 1.206, 1.491) == "1.34× [1.21, 1.49]"  # noqa: RUF001
    assert say.speedup(1.339, None, 1.491) == "1.34×"  # noqa: RUF001
    assert say.speedup(None, 1.2, 1.5) == "\N{EN DASH}"


def test_a_count_agrees_with_its_noun() -> None:
    assert say.count(0, "cell") == "0 cells"
    assert say.count(1, "cell") == "1 cell"
    assert say.count(1200, "cell") == "1,200 cells"


def test_a_percentage_is_rounded_and_an_unknown_one_is_a_dash() -> None:
    assert say.percent(0.784) == "78 %"
    assert say.percent(0.0213, 1) == "2.1 %"
    assert say.percent(0.0) == "0 %"
    assert say.percent(-0.034, signed=True) == "-3 %"
    assert say.percent(-0.001, 1, signed=True) == "-0.1 %"
    assert say.percent(-0.001, signed=True) == "+0 %"
    assert say.percent(None) == "\N{EN DASH}"


def test_a_number_has_its_decimals_and_its_unit() -> None:
    assert say.number(1234.56) == "1,234.6"
    assert say.number(0.0, 2, "ms") == "0.00 ms"
    assert say.number(None) == "\N{EN DASH}"


def test_a_list_is_joined_as_in_a_sentence() -> None:
    assert say.listed(["a"]) == "a"
    assert say.listed(["a", "b"]) == "a and b"
    assert say.listed(("a", "b", "c")) == "a, b and c"
