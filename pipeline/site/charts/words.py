"""How are figures said in captions and cells?"""

from __future__ import annotations

import math
from typing import Any

from estimates.wording import interval_text
from pipeline.site.charts.model import Row, Value

SIGNIFICANT_DIGITS = 4
UP, DOWN, LEVEL = "▲", "▼", "•"


def times(ratio: float) -> str:
    """A ratio as people write it, with the multiplication sign."""
    return f"{ratio:.2f}×"  # noqa: RUF001 - the multiplication sign is meant


def sign(verdict: object) -> str:
    """Which way the evidence points: up or down only where the whole interval does."""
    if verdict == "helps":
        return UP
    return DOWN if verdict == "hurts" else LEVEL


def spread(row: Row) -> str:
    """The interval of a row in brackets, or nothing: ` [1.10, 1.30]`."""
    low, high = row["interval_low"], row["interval_high"]
    return "" if low is None or high is None else f" {interval_text(low, high)}"


def counted(number: int, noun: str) -> str:
    """`1 cell`, `3 cells`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain(value: object) -> Value:
    """A value as a chart and its table work with it: finite or absent, dates as text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int | str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value)


def rounded(value: Any) -> Any:  # noqa: ANN401 - a specification is JSON of any shape
    """A specification with four significant digits, for a file that a page loads.

    Only the last step rounds: words made from a rounded figure would differ from the page's tables.
    """
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value
