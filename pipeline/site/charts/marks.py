"""Build the common elements of pictures: a base, points, intervals and layers."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import altair as alt

from pipeline.site.charts.chart_axes import speedup_axis, unity
from pipeline.site.charts.theme import DOT, Row, Scale

Picture: TypeAlias = alt.LayerChart
POINT_PX2 = 70
TIERS = {"filled": False, "color": DOT, "fill": DOT}
# The project's measurements are filled; other people's figures are outlines.
FILLED = alt.condition("datum.tier === 'measured'", alt.value(0.8), alt.value(0.1))


def base(rows: list[Row]) -> alt.Chart:
    """A chart of these rows, without marks yet."""
    # Each step copies a chart with its lists and dictionaries, but not its tuples.
    return alt.Chart(alt.InlineData(values=tuple(rows)))


def points(on: alt.Chart, **style: Any) -> alt.Chart:  # noqa: ANN401 - Altair's own
    """A point for each row, filled unless `style` says otherwise."""
    made: alt.Chart = on.mark_point(**{"filled": True, "size": POINT_PX2, "opacity": 1, **style})
    return made


def bars(on: alt.Chart, shown: str, width: float, opacity: float = 1) -> alt.Chart:
    """A line for each row that passes the Vega filter `shown`; the caller encodes its ends."""
    made: alt.Chart = on.transform_filter(shown).mark_rule(
        strokeWidth=width, opacity=opacity, aria=False
    )
    return made


def layered(layers: Sequence[alt.Chart], *, height: int) -> Picture:
    return alt.LayerChart(layer=list(layers), height=height)


def upright(  # noqa: PLR0913 - one argument per visual channel
    rows: list[Row],
    on: alt.Chart,
    *,
    shape: alt.Shape,
    lines: alt.Chart | None = None,
    over: Sequence[alt.Chart] = (),
    title: str = "Speedup (log scale)",
    drawn: tuple[str, str, str] = ("speedup", "interval_low", "interval_high"),
    shown: str = "true",
    width: float = 1.5,
    opacity: float = 1,
    height: int = 320,
) -> Picture:
    """Points with vertical intervals on a log axis of speedups, between `lines` and `over`.

    `drawn` names three columns: the point, and the low and the high end of its interval.
    """
    middle, low, high = drawn
    named = dict(zip(drawn, ("speedup", "interval_low", "interval_high"), strict=True))
    span = speedup_axis([{named[each]: row[each] for each in drawn} for row in rows])
    y = alt.Y(f"{middle}:Q", title=title, scale=span.scale, axis=span.axis)
    ranges = bars(on, f"isValid(datum.{low}) && ({shown})", width, opacity).encode(
        y=alt.Y(f"{low}:Q", scale=span.scale), y2=alt.Y2(f"{high}:Q")
    )
    dots = points(on).encode(y=y, shape=shape)
    under = [lines.encode(y=y)] if lines is not None else []
    return layered([unity(axis="y"), *under, ranges, dots, *over], height=height)


def channel(kind: type, column: str, title: str, scale: Scale) -> Any:  # noqa: ANN401 - a colour or a shape
    """An Altair encoding of a column as colour or shape; `scale` has its domain and range."""
    return kind(f"{column}:N", title=title, scale=alt.Scale(domain=scale[0], range=scale[1]))
