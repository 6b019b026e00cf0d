"""How are figures said in captions and cells?"""

from __future__ import annotations

import math
from typing import Any

from pipeline.site.charts.model import Row, Value
from schemas.vocabulary import say

SIGNIFICANT_DIGITS = 4


def speedup(row: Row) -> str:
    """The speedup of a row with its interval."""
    return say.speedup(row["speedup"], row["interval_low"], row["interval_high"])


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
