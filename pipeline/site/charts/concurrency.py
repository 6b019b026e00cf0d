"""How much of a speedup is left when several requests are in flight at once?"""

from __future__ import annotations

from itertools import groupby

import altair as alt

from pipeline.site.charts.intervals import POINT_PX2, speedup_axis, unity
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import method_colour, method_scales, method_shape
from schemas.vocabulary import say

COLUMNS = {
    "place_label": "Where",
    "arm_label": "Method",
    "concurrency": "Requests at once",
    "speedup": "Speedup of one stream",
    "interval_low": "from",
    "interval_high": "to",
    "interval_label": "Interval",
    "verdict_label": "Verdict",
    "total_speedup": "Speedup of the total",
    "tokens_per_round": "Tokens per round",
    "round_cost": "Round cost R",
}


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    colours, shapes = method_scales(rows)
    span = speedup_axis(rows)
    levels = sorted({row["concurrency"] for row in rows})
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "concurrency:O", title="Requests at once", sort=levels, axis=alt.Axis(labelAngle=0)
        ),
        color=method_colour(colours),
        detail="series:N",
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
    )
    y = alt.Y(
        "speedup:Q", title="Speedup of one stream (log scale)", scale=span.scale, axis=span.axis
    )
    lines = base.mark_line(strokeWidth=1.5).encode(y=y)
    bars = (
        base.transform_filter("isValid(datum.interval_low)")
        .mark_rule(strokeWidth=1, opacity=0.6)
        .encode(y=alt.Y("interval_low:Q", scale=span.scale), y2="interval_high:Q")
    )
    points = base.mark_point(filled=True, size=POINT_PX2, opacity=1).encode(
        y=y, shape=method_shape(shapes)
    )
    return alt.layer(unity(axis="y"), lines, bars, points).properties(height=320)


def takeaway(rows: list[Row]) -> str:
    ends = [(series[0], series[-1]) for series in _by_series(rows)]
    fell = sum(crowd["speedup"] < alone["speedup"] for alone, crowd in ends)
    lost = sum(alone["speedup"] > 1 > crowd["speedup"] for alone, crowd in ends)
    alone, crowd = max(ends, key=lambda pair: pair[0]["speedup"] / pair[1]["speedup"])
    change = (
        f"from {say.times(alone['speedup'])} with {say.count(alone['concurrency'], 'request')}"
        f" at once to {say.times(crowd['speedup'])} with {crowd['concurrency']}"
    )
    if len(ends) == 1:
        return f"The speedup of one stream goes {change}."
    return (
        f"In {fell or 'none'} of {len(ends)} series the speedup is smaller with more requests at"
        f" once, and in {lost or 'none'} of them a gain becomes a loss; the largest change goes"
        f" {change}."
    )


def _by_series(rows: list[Row]) -> list[list[Row]]:
    """The rows of each series, from few requests at once to many, as the query orders them."""
    return [list(group) for _, group in groupby(rows, key=lambda row: row["series"])]


def alt_text(rows: list[Row]) -> str:
    series = len({row["series"] for row in rows})
    return f"Speedup by requests in flight at once for {say.count(series, 'series', 'series')}."


CONCURRENCY = Definition(
    title="Speedup by requests in flight",
    parameters={"task": "all", "tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
