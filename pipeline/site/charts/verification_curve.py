"""What does it cost to verify more tokens at once? A target step by its width."""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import backend_colours
from schemas.vocabulary import say

COLUMNS = {
    "curve_label": "Target and rig",
    "width": "Width (tokens)",
    "step_ms": "Step (ms)",
    "step_ratio": "Cost in single steps",
}
FEW_CURVES = 5  # so many can be named below the chart


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    """Colour by backend; the curves of one backend are told apart by their dashes."""
    colours = backend_colours(row["backend"] for row in rows)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("width:Q", title="Tokens verified in one step", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y(
            "step_ratio:Q",
            title="Cost in single steps",
            scale=alt.Scale(domainMin=0),
        ),
        color=alt.Color(
            "backend:N", title="Backend", scale=alt.Scale(domain=colours[0], range=colours[1])
        ),
        detail="curve_label:N",
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
    )
    few = len({row["curve_label"] for row in rows}) <= FEW_CURVES
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=600, symbolSize=300)
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("curve_label:N", legend=legend if few else None)
    )
    return alt.layer(lines, base.mark_point(filled=True, opacity=1)).properties(height=300)


def takeaway(rows: list[Row]) -> str:
    """The cheapest and the dearest curve at the greatest width that they share."""
    last = {row["curve_label"]: row for row in rows}  # rows come by ascending width
    cheapest = min(last.values(), key=_cost_per_token)
    dearest = max(last.values(), key=_cost_per_token)
    if cheapest is dearest:
        return f"{_cost(cheapest)} with {cheapest['curve_label']}."
    return (
        f"The flattest curve is that of {cheapest['curve_label']}: {_cost(cheapest)}."
        f" The steepest is that of {dearest['curve_label']}: {_cost(dearest)}."
    )


def alt_text(rows: list[Row]) -> str:
    curves = len({row["curve_label"] for row in rows})
    return f"Cost of one target step by width for {say.count(curves, 'curve')}."


def _cost_per_token(row: Row) -> float:
    return float(row["step_ratio"] / row["width"])


def _cost(row: Row) -> str:
    return f"{row['width']} tokens in one step take {row['step_ratio']:.2f} times as long as one"


VERIFICATION_CURVE = Definition(
    title="Verification curve: cost of a step by its width",
    parameters={"device": "all"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
