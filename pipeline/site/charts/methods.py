"""How deep should one draft, and by which method?"""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.intervals import POINT_PX2, speedup_axis, unity
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import method_colour, method_scales, method_shape
from pipeline.site.charts.words import speedup
from schemas.vocabulary import say

COLUMNS = {
    "method_label": "Method",
    "depth": "Depth",
    "speedup": "Speedup",
    "interval_low": "from",
    "interval_high": "to",
    "interval_label": "Interval",
    "verdict_label": "Verdict",
    "acceptance_rate": "Acceptance rate",
    "tokens_per_round": "Tokens per round",
    "round_cost": "Round cost R",
    "submissions": "Submissions",
    "rigs": "Rigs",
    "contributors": "Contributors",
}


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    colours, shapes = method_scales(rows)
    span = speedup_axis(rows)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("depth:O", title="Depth (tokens drafted per round)", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("method_label:N", sort=colours[0]),
        color=method_colour(colours),
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
    )
    bars = (
        base.transform_filter("isValid(datum.interval_low)")
        .mark_rule(strokeWidth=2)
        .encode(y=alt.Y("interval_low:Q", scale=span.scale), y2="interval_high:Q")
    )
    points = base.mark_point(filled=True, size=POINT_PX2, opacity=1).encode(
        y=alt.Y("speedup:Q", title="Speedup (log scale)", scale=span.scale, axis=span.axis),
        shape=method_shape(shapes),
    )
    return alt.layer(unity(axis="y"), bars, points).properties(height=300)


def takeaway(rows: list[Row]) -> str:
    best = max(rows, key=lambda row: row["speedup"])
    return (
        f"{best['method_label']} at depth {best['depth']} does best:"
        f" {speedup(best)} over"
        f" {say.count(best['submissions'], 'submission')}."
    )


def alt_text(rows: list[Row]) -> str:
    methods = len({row["method"] for row in rows})
    return f"Speedup with 95 % interval by depth for {say.count(methods, 'method')}."


METHODS = Definition(
    title="Speedup by method and depth",
    parameters={"task": "all", "tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
