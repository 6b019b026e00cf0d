"""Figures, axes and colours of charts suit their readers."""

import math
from datetime import date

import polars as pl
import pytest

from pipeline.site.charts import as_rows, rounded
from pipeline.site.charts.marks import speedup_axis
from pipeline.site.charts.theme import (
    METHOD_COLOURS,
    NEUTRAL,
    method_colours,
)

GROUNDS = {"light": "#ffffff", "dark": "#1e2129"}


def test_figures_are_finite_or_absent() -> None:
    found = pl.DataFrame(
        {"value": [1.23456, math.nan, math.inf, None], "day": [date(2026, 1, 2)] * 4}
    )

    assert [row["value"] for row in as_rows(found)] == [1.23456, None, None, None]
    assert as_rows(found)[0]["day"] == "2026-01-02"


def test_a_specification_has_four_digits() -> None:
    assert rounded({"domain": [1.23456, 12345.6], "height": 300, "nice": False}) == {
        "domain": [1.235, 12350.0],
        "height": 300,
        "nice": False,
    }


def test_an_interval_without_evidence_does_not_squeeze_the_others() -> None:
    wide = {"speedup": 0.5, "interval_low": 0.0004, "interval_high": 9000.0}
    clear = {"speedup": 2.0, "interval_low": 1.8, "interval_high": 2.2}

    axis = speedup_axis([wide, clear])

    assert (axis.low, axis.high) == pytest.approx((0.1 / 1.03, 10 * 1.03))
    assert axis.ticks == (0.1, 0.2, 0.5, 1, 2, 5, 10)


def test_an_axis_of_speedups_always_shows_1_and_has_round_lines() -> None:
    axis = speedup_axis([{"speedup": 1.5, "interval_low": 1.4, "interval_high": 1.6}])

    assert (axis.low, axis.high) == pytest.approx((0.9 / 1.03, 1.6 * 1.03))
    assert axis.ticks == (0.9, 1, 1.2, 1.4, 1.6)


@pytest.mark.parametrize("colour", sorted(set(METHOD_COLOURS.values())))
@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_colours_stand_out_from_light_and_dark_pages(colour: str, ground: str) -> None:
    light, dark = sorted((_luminance(colour), _luminance(ground)), reverse=True)

    assert (light + 0.05) / (dark + 0.05) >= 3


def test_a_method_keeps_its_colour_in_every_chart() -> None:
    assert method_colours(["other", "draft-model"]) == (
        ["draft-model", "other"],
        [METHOD_COLOURS["draft-model"], NEUTRAL],
    )


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
