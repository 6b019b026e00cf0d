"""Print figures: a count, a percentage, a ratio with its interval, a list.

An unknown value is a dash, not a zero. `site_src/assets/javascripts/say.js` prints the same texts.
"""

import math
from collections.abc import Sequence

UNKNOWN = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
# With two prompts, an interval may reach from 0.000002 to 5 259 230. Such digits claim a false
# precision, so an end beyond a factor of ten is printed only as that limit.
LEAST, MOST = 0.1, 10.0


def count(value: int, noun: str) -> str:
    """A count with its noun: `1 cell`, `1,200 cells`, `2 people`."""
    several = "people" if noun == "person" else f"{noun}s"
    return f"{value:,} {noun if value == 1 else several}"


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    """A number with a fixed number of decimals: `1,234.5 ms`."""
    if value is None:
        return UNKNOWN
    return f"{value:,.{digits}f}" + (f" {unit}" if unit else "")


def about(value: float) -> str:
    """A number rounded to two significant digits: 1,734 becomes `1,700`."""
    return f"{float(f'{value:.2g}'):,.0f}"


def size(size_bytes: float) -> str:
    """A size in its unit; gigabytes have three digits: `350 kB`, `88 MB`, `4.92 GB`, `19.9 GB`."""
    kb, mb, gb = (size_bytes / each for each in (1e3, 1e6, 1e9))
    if gb >= 1:
        return f"{_three_digits(gb)} GB"
    return f"{mb:.0f} MB" if mb >= 1 else f"{kb:.0f} kB"


def rate(tokens_per_s: float | None) -> str:
    """A rate to three significant digits, so that two printed rates give their speedup: `28.2`."""
    if tokens_per_s is None:
        return UNKNOWN
    return _three_digits(tokens_per_s)


def percent(fraction: float | None, digits: int = 0, *, signed: bool = False) -> str:
    """A fraction in percent: 0.784 becomes `78 %`, or `+78 %` with its sign."""
    if fraction is None:
        return UNKNOWN
    sign = "+z" if signed else ""  # `z` turns a rounded -0.0 into 0.0
    return f"{fraction * 100:{sign}.{digits}f} %"


def times(ratio: float | None) -> str:
    """A ratio with two decimals and the multiplication sign."""
    return UNKNOWN if ratio is None else f"{ratio:.2f}{TIMES}"


def bound(ratio: float) -> str:
    """A bound of a ratio's interval: `0.72`, or `<0.1` and `>10` beyond a factor of ten."""
    if ratio < LEAST:
        return f"<{LEAST:g}"
    return f">{MOST:g}" if ratio > MOST else f"{ratio:.2f}"


def interval(low: float, high: float) -> str:
    """The interval of a ratio: `[0.61, 0.72]` or `[<0.1, >10]`."""
    return f"[{bound(low)}, {bound(high)}]"


def speedup(ratio: float | None, low: float | None, high: float | None) -> str:
    """A ratio with its interval in brackets, if both are known."""
    if ratio is None or low is None or high is None:
        return times(ratio)
    return f"{times(ratio)} {interval(low, high)}"


def best_of(choices: int) -> str:
    """The number of settings that a figure was picked from: `best of 13`."""
    return "the only setting" if choices == 1 else f"best of {choices:,}"


def listed(names: Sequence[str]) -> str:
    """A list in a sentence: `a`, `a and b` or `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def reason(name: str | None) -> str:
    """The reason for a failure in words: `out-of-memory` becomes `out of memory`."""
    return (name or "other").replace("-", " ")


def _three_digits(value: float) -> str:
    rounded = float(f"{value:.3g}")  # 9.996 is 10.0
    return f"{value:,.{max(0, 2 - math.floor(math.log10(rounded)))}f}"
