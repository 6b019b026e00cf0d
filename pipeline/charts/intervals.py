"""How is a speedup with its interval drawn? A point, a line, and a rule at 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from pipeline.charts.theme import BAND_PX

if TYPE_CHECKING:
    from pipeline.charts.model import Row

POINT_PX2 = 70
SERIES_PX = 18
LINE_PX = 14
BETWEEN = " · "  # parts of a name; each gets a line of its own beside the chart


def speedup_scale(rows: list[Row]) -> alt.Scale:
    """A log scale that shows every interval and always 1."""
    bounds = [
        row[key]
        for row in rows
        for key in ("speedup", "interval_low", "interval_high")
        if row.get(key) is not None
    ]
    low, high = min([0.9, *bounds]), max([1.1, *bounds])
    return alt.Scale(type="log", domain=[low / 1.03, high * 1.03], nice=False)


def interval_rows(  # noqa: PLR0913 - one argument per visual channel
    rows: list[Row],
    *,
    line: str,
    series: str,
    colours: tuple[list[str], list[str]],
    shapes: tuple[list[str], list[str]] | None,
    series_title: str,
    tooltip: dict[str, str],
) -> alt.LayerChart:
    """One band per `line` in the order of the rows, one point with its interval per `series`."""
    lines = list(dict.fromkeys(row[line] for row in rows))
    scale = speedup_scale(rows)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(f"{line}:N", title=None, sort=lines, axis=lines_of_words()),
        yOffset=alt.YOffset(f"{series}:N", sort=colours[0]),
        color=alt.Color(
            f"{series}:N",
            title=series_title,
            scale=alt.Scale(domain=colours[0], range=colours[1]),
        ),
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in tooltip.items()],
    )
    bars = base.transform_filter(
        "isValid(datum.interval_low) && isValid(datum.interval_high)"
    ).mark_rule(strokeWidth=2)
    points = base.mark_point(filled=True, size=POINT_PX2, opacity=1).encode(
        x=alt.X("speedup:Q", title="Speedup (log scale)", scale=scale)
    )
    if shapes is not None:
        points = points.encode(
            shape=alt.Shape(
                f"{series}:N",
                title=series_title,
                scale=alt.Scale(domain=shapes[0], range=shapes[1]),
            )
        )
    bars = bars.encode(x=alt.X("interval_low:Q", scale=scale), x2="interval_high:Q")
    layers = alt.LayerChart(layer=[unity(axis="x"), bars, points])
    picture: alt.LayerChart = layers.properties(
        height=len(lines) * max(BAND_PX, SERIES_PX * len(colours[0]), _words_px(lines))
    )
    return picture


def lines_of_words() -> alt.Axis:
    """An axis whose names stand on several lines, so that a phone shows them whole."""
    return alt.Axis(
        ticks=False, labelExpr=f"split(datum.label, '{BETWEEN}')", labelLineHeight=LINE_PX
    )


def _words_px(names: list[str]) -> int:
    return (max(name.count(BETWEEN) for name in names) + 1) * LINE_PX + LINE_PX


def unity(*, axis: str) -> alt.Chart:
    """A dashed rule at 1, where speculation changes nothing."""
    base = alt.Chart(alt.InlineData(values=[{"unity": 1}])).mark_rule(strokeDash=[4, 3])
    rule: alt.Chart = base.encode(x="unity:Q") if axis == "x" else base.encode(y="unity:Q")
    return rule
