"""How good are predictions? What was measured against what was predicted."""

from __future__ import annotations

from statistics import median

import altair as alt

from pipeline.site.charts.intervals import POINT_PX2
from pipeline.site.charts.model import Definition, Row
from schemas.vocabulary import say

COLUMNS = {
    "kind": "Predicted from",
    "device_label": "Device",
    "backend": "Backend",
    "target_label": "Target",
    "quantisation": "Quantisation",
    "method_label": "Method",
    "depth": "Depth",
    "task_label": "Task",
    "predicted": "Predicted",
    "speedup": "Measured",
    "off_by": "Off by",
}
LOOKS = {"Other machines": ("#0A7BBF", "circle"), "Its own probes": ("#C77F00", "square")}
KINDS = list(LOOKS)


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    """Both axes alike and logarithmic; on the dashed line a prediction is right."""
    values = [row[key] for row in rows for key in ("predicted", "speedup")]
    ends = [min([0.9, *values]) / 1.05, max([1.1, *values]) * 1.05]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x = alt.X("predicted:Q", title="Predicted speedup (log scale)", scale=scale)
    y = alt.Y("speedup:Q", title="Measured speedup (log scale)", scale=scale)
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    line = (
        alt.Chart(alt.InlineData(values=[{"predicted": end, "speedup": end} for end in ends]))
        .mark_line(strokeDash=[4, 3], color="#808A99")
        .encode(x=x, y=y)
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=POINT_PX2, opacity=0.7)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "kind:N",
                title="Predicted from",
                scale=alt.Scale(domain=kinds, range=[LOOKS[kind][0] for kind in kinds]),
            ),
            shape=alt.Shape(
                "kind:N",
                title="Predicted from",
                scale=alt.Scale(domain=kinds, range=[LOOKS[kind][1] for kind in kinds]),
            ),
            tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
        )
    )
    return alt.layer(line, points).properties(height=420)


def takeaway(rows: list[Row]) -> str:
    parts = []
    for kind in KINDS:
        errors = [row["off_by"] for row in rows if row["kind"] == kind]
        if errors:
            number = say.count(len(errors), "prediction")
            parts.append(f"{kind}: {number}, off by {say.percent(median(errors), 1)} in the median")
    return "; ".join(parts) + "."


def alt_text(rows: list[Row]) -> str:
    return f"Measured against predicted speedup for {say.count(len(rows), 'prediction')}."


PREDICTIONS = Definition(
    title="Predicted against measured",
    parameters={},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
