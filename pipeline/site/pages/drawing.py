"""Compute positions of marks in the small drawings in templates: whiskers and curves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.site.rows import Row

WHISKER_END = 4.0  # a whisker's axis runs from 1/4 to 4, as wide as the map's colours
HEADROOM = 1.08


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point on a curve: its position, and the `width` (tokens per step) and `value` it shows."""

    x: float
    y: float
    width: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlottedCurve:
    """A curve over whole numbers, with the gridlines of its value axis."""

    marks: tuple[Mark, ...]
    grid: tuple[tuple[float, str], ...]

    @property
    def path(self) -> str:
        """The curve as SVG path data."""
        return "M" + "L".join(f"{mark.x:g},{mark.y:g}" for mark in self.marks)


def whisker(row: Row) -> Mapping[str, float] | None:
    """The positions of an interval on a log axis from 1/4 to 4, in percent of the axis.

    A missing bound is placed at the estimate itself.
    """
    middle = row.speedup
    if middle is None:
        return None
    ends = {"low": row.interval_low, "middle": middle, "high": row.interval_high}
    return {
        name: log_position(middle if value is None else value, 1 / WHISKER_END, WHISKER_END, 2)
        for name, value in ends.items()
    }


def log_position(value: float, low: float, high: float, digits: int) -> float:
    """Percent along a log axis from `low` to `high`; values outside are drawn at its ends."""
    share = math.log(max(value, 1e-9) / low) / math.log(high / low)
    return round(min(max(share, 0.0), 1.0) * 100, digits)


def curve(points: Sequence[tuple[int, float]], *, width: float, height: float) -> PlottedCurve:
    """Scale a curve to a box of `width` by `height`; values start at 0, and y points down."""
    most = max(value for _, value in points) * HEADROOM
    first, last = points[0][0], points[-1][0]
    span = max(last - first, 1)
    marks = tuple(
        Mark(
            x=round((at - first) / span * width, 2),
            y=round(height - value / most * height, 2),
            width=at,
            value=value,
        )
        for at, value in points
    )
    step = nice_step(most)
    lines = range(1, int(most / step) + 1)
    return PlottedCurve(
        marks=marks,
        grid=tuple((round(height - n * step / most * height, 2), f"{n * step:g}") for n in lines),
    )


def nice_step(most: float) -> float:
    """The distance between gridlines, 1, 2 or 5 times a power of ten, for two to four gridlines."""
    power: float = 10.0 ** math.floor(math.log10(most / 2))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= most / 2)
