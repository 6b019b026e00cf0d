"""How is an interval said, so that a reader sees at once how little or how much it tells?

With two prompts an interval may reach from 0.000002 to 5 259 230. Such digits claim a precision
that is not there: beyond a factor of ten either way, the reader is told just that.
"""

from __future__ import annotations

LEAST, MOST = 0.1, 10.0


def bound_text(ratio: float) -> str:
    """`0.72`, or `<0.1` and `>10` beyond a factor of ten."""
    if ratio < LEAST:
        return f"<{LEAST:g}"
    return f">{MOST:g}" if ratio > MOST else f"{ratio:.2f}"


def interval_text(low: float, high: float) -> str:
    """`[0.61, 0.72]` or `[<0.1, >10]`: the bounds of a ratio's interval."""
    return f"[{bound_text(low)}, {bound_text(high)}]"
