"""Why does it win or lose? Tokens per round against the cost of a round."""

from __future__ import annotations

import math

import altair as alt

from pipeline.site.charts.intervals import POINT_PX2
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import method_colour, method_scales, method_shape
from schemas.vocabulary import say

ISO_SPEEDUPS = (0.5, 1.0, 2.0, 4.0)
COLUMNS = {
    "device_label": "Device",
    "backend": "Backend",
    "target_label": "Target",
    "quantisation": "Quantisation",
    "method_label": "Method",
    "depth": "Depth",
    "tokens_per_round": "Tokens per round",
    "round_cost": "Round cost R",
    "margin_tokens": "Beyond break-even",
    "speedup": "Speedup",
    "verdict_label": "Verdict",
    "cannot_win": "Cannot win at this depth",
    "submissions": "Submissions",
}


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    reach = max(2.0, *(row[key] for row in rows for key in ("tokens_per_round", "round_cost")))
    limit = math.ceil(reach * 1.05 * 2) / 2
    colours, shapes = method_scales(rows)
    x = alt.X(
        "round_cost:Q",
        title="Round cost R (baseline tokens)",
        axis=alt.Axis(tickCount=8),
        scale=alt.Scale(domain=[0, limit], nice=False),
    )
    y = alt.Y(
        "tokens_per_round:Q",
        title="Tokens per round",
        axis=alt.Axis(tickCount=8),
        scale=alt.Scale(domain=[0, limit], nice=False),
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=POINT_PX2, opacity=0.85)
        .encode(
            x=x,
            y=y,
            color=method_colour(colours),
            shape=method_shape(shapes),
            tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
        )
    )
    return alt.layer(*_iso_lines(limit), points).properties(height=380)


def takeaway(rows: list[Row]) -> str:
    won = sum(row["margin_tokens"] > 0 for row in rows)
    lost = sum(bool(row["cannot_win"]) for row in rows)
    subject = "a round costs" if lost == 1 else "rounds cost"
    return (
        f"{won} of {say.count(len(rows), 'cell')} yield more tokens a round than the round"
        f" costs; in {lost or 'none'} {subject} more than even a fully accepted draft returns."
    )


def alt_text(rows: list[Row]) -> str:
    return (
        f"Tokens per round against round cost for {say.count(len(rows), 'cell')}; above the line of"
        " equal values speculation wins."
    )


def _iso_lines(limit: float) -> tuple[alt.Chart, alt.Chart, alt.Chart]:
    """Lines of equal speedup through the origin, each named where it leaves the plane."""
    ends = [
        {
            "round_cost": min(limit, limit / speedup),
            "tokens_per_round": min(limit, limit * speedup),
            "iso": f"{speedup:g}×",  # noqa: RUF001 - the multiplication sign is meant
            "width": 2 if speedup == 1 else 1,
        }
        for speedup in ISO_SPEEDUPS
    ]
    starts = [{**end, "round_cost": 0, "tokens_per_round": 0} for end in ends]
    axes = {"x": "round_cost:Q", "y": "tokens_per_round:Q"}
    lines = (
        alt.Chart(alt.InlineData(values=[*starts, *ends]))
        .mark_line(strokeDash=[4, 3], color="#808A99")
        .encode(**axes, detail="iso:N", strokeWidth=alt.StrokeWidth("width:Q", scale=None))
    )
    named = alt.Chart(alt.InlineData(values=ends)).encode(**axes, text="iso:N")
    halo, words = (
        named.mark_text(align="right", baseline="bottom", dx=-4, dy=12, style=style)
        for style in ("halo", "text")
    )
    return lines, halo, words


BREAK_EVEN = Definition(
    title="Break-even: tokens per round against round cost",
    parameters={"task": "all", "tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
