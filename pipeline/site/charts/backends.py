"""Does the backend decide? Backends of the same device side by side."""

from __future__ import annotations

from itertools import groupby

import altair as alt

from pipeline.site.charts.intervals import interval_rows
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import backend_colours
from schemas.vocabulary import say

COLUMNS = {
    "device_label": "Device",
    "size_class": "Model size",
    "method_label": "Method",
    "backend": "Backend",
    "speedup": "Speedup",
    "interval_low": "from",
    "interval_high": "to",
    "interval_label": "Interval",
    "verdict_label": "Verdict",
    "baseline_tps": "Baseline tokens/s",
    "tps": "Tokens/s",
    "round_cost": "Round cost R",
    "submissions": "Submissions",
}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    colours = backend_colours(row["backend"] for row in rows)
    return interval_rows(
        [{key: row[key] for key in row if key != "settings"} for row in rows],
        line="line_label",
        series="backend",
        colours=colours,
        shapes=(colours[0], [SHAPES[index % len(SHAPES)] for index in range(len(colours[0]))]),
        series_title="Backend",
        tooltip=COLUMNS,
    )


def takeaway(rows: list[Row]) -> str:
    """Where the choice of backend changes most."""
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row["line_label"])]
    widest = max(groups, key=_ratio)
    high = max(widest, key=lambda row: row["speedup"])
    low = min(widest, key=lambda row: row["speedup"])
    settings = rows[0]["settings"]
    part = f" Shown are the {len(groups)} of {settings} settings in which it matters most."
    return (
        f"The backend matters most for {high['line_label']}: {say.times(high['speedup'])} with"
        f" {high['backend']}, {say.times(low['speedup'])} with {low['backend']}."
        f"{part if settings > len(groups) else ''}"
    )


def alt_text(rows: list[Row]) -> str:
    lines = len({row["line_label"] for row in rows})
    return f"Speedup with 95 % interval for {say.count(lines, 'setting')}, one point per backend."


def _ratio(rows: list[Row]) -> float:
    speedups = [row["speedup"] for row in rows]
    return float(max(speedups) / min(speedups))


BACKENDS = Definition(
    title="Speedup by backend on the same device",
    parameters={"task": "all", "tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
