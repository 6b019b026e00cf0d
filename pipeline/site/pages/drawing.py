"""Compute positions of marks in the small drawings in templates: whiskers and curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.site.rows import Row

WHISKER_END = 4.0  # a whisker's axis runs from 1/4 to 4, as wide as the map's colours
HEADROOM = 1.08


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """The positions of an interval on a log axis from 1/4 to 4, in percent of the axis."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point on a curve: its position, and the `width` (tokens per step) and `value` it shows."""

    x: float
    y: float
    width: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve over whole numbers, with the gridlines of its value axis."""

    marks: tuple[Mark, ...]
    grid: tuple[tuple[float, str], ...]

    @property
    def path(self) -> str:
        """The curve as SVG path data."""
        return "M" + "L".join(f"{mark.x:g},{mark.y:g}" for mark in self.marks)


def whisker(row: Row) -> Whisker | None:
    """The position of a row's interval; a missing bound is placed at the estimate itself."""
    middle, low, high = row.speedup, row.interval_low, row.interval_high
    if middle is None:
        return None
    return Whisker(
        low=log_position(middle if low is None else low),
        middle=log_position(middle),
        high=log_position(middle if high is None else high),
    )


def log_position(value: float) -> float:
    """Percent along the axis from 1/4 to 4; values outside are drawn at its ends."""
    share = (math.log(max(value, 1e-9)) / math.log(WHISKER_END) + 1) / 2
    return round(min(max(share, 0.0), 1.0) * 100, 2)


def curve(points: Sequence[tuple[int, float]], *, width: float, height: float) -> Curve:
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
    return Curve(
        marks=marks,
        grid=tuple((round(height - n * step / most * height, 2), f"{n * step:g}") for n in lines),
    )


def nice_step(most: float) -> float:
    """The distance between gridlines, 1, 2 or 5 times a power of ten, for two to four gridlines."""
    power: float = 10.0 ** math.floor(math.log10(most / 2))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= most / 2)
