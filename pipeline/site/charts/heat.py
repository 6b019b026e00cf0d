"""How is a map square drawn? Colour for the ratio, number and sign, grey for no data."""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.model import Row
from pipeline.site.charts.theme import BAND_PX, NEUTRAL
from schemas.vocabulary import SIZES, VERDICTS

LEAST_DOMAIN = 2.0  # the colour scale reaches at least from half to double
TOOLTIP = {
    "line_label": "Row",
    "size_class": "Model size",
    "speedup": "Speedup",
    "interval_low": "from",
    "interval_high": "to",
    "verdict_label": "Verdict",
    "method_label": "Method",
    "depth": "Depth",
    "target_label": "Target",
    "quantisation": "Quantisation",
    "submissions": "Submissions",
    "losing_cells": "Cells that lose",
    "cells": "Cells",
}
COLUMNS = TOOLTIP | {"interval_label": "Interval", "default_speedup": "Speedup of the default"}


def heat(rows: list[Row], *, line_title: str | None) -> alt.LayerChart:
    """Squares of `line_label` against `size_class`, coloured by speedup on a log scale around 1."""
    reach = max([LEAST_DOMAIN, *(max(s, 1 / s) for s in _speedups(rows))])
    lines = list(dict.fromkeys(row["line_label"] for row in rows))
    base = alt.Chart(alt.InlineData(values=[_with_label(row) for row in rows])).encode(
        x=alt.X(
            "size_class:O",
            title="Target model (parameters)",
            sort=[size.label for size in SIZES.values()],
            axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
        ),
        y=alt.Y(
            "line_label:N",
            title=line_title,
            sort=lines,
            axis=alt.Axis(domain=False, ticks=False),
        ),
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in TOOLTIP.items()],
    )
    layers = alt.layer(_unmeasured(base), _measured(base, reach), _numbers(base))
    picture: alt.LayerChart = layers.resolve_scale(color="independent").properties(
        height=len(lines) * (BAND_PX + 6)
    )
    return picture


def _unmeasured(base: alt.Chart) -> alt.Chart:
    squares: alt.Chart = base.transform_filter("datum.speedup === null").mark_rect(
        fill=NEUTRAL,
        fillOpacity=0.12,
        stroke=NEUTRAL,
        strokeDash=[2, 3],
        strokeOpacity=0.6,
        cornerRadius=3,
    )
    return squares


def _measured(base: alt.Chart, reach: float) -> alt.Chart:
    scale = alt.Scale(type="log", domain=[1 / reach, reach], domainMid=1, interpolate="rgb")
    legend = alt.Legend(
        title="Speedup",
        values=[0.5, 1, 2],
        labelExpr="datum.label + '×'",  # noqa: RUF001 - the multiplication sign is meant
        gradientLength=220,
    )
    squares: alt.Chart = (
        base.transform_filter("datum.speedup !== null")
        .mark_rect(cornerRadius=3)
        .encode(color=alt.Color("speedup:Q", scale=scale, legend=legend))
    )
    return squares


def _numbers(base: alt.Chart) -> alt.Chart:
    """In the ink of the page: no square is so strong that it could not be read on it."""
    numbers: alt.Chart = (
        base.transform_filter("datum.speedup !== null")
        .mark_text(fontSize=13)
        .encode(text="label:N")
    )
    return numbers


def _with_label(row: Row) -> Row:
    speedup = row["speedup"]
    label = "" if speedup is None else f"{speedup:.2f} {VERDICTS[row['verdict']].sign}"
    return {**row, "label": label}


def _speedups(rows: list[Row]) -> list[float]:
    return [row["speedup"] for row in rows if row["speedup"] is not None]
