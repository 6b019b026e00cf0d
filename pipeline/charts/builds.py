"""Did an engine build make it faster or slower? A setting on one machine over builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from pipeline.charts.intervals import POINT_PX2, speedup_scale, unity
from pipeline.charts.model import Definition
from pipeline.charts.words import counted

if TYPE_CHECKING:
    from pipeline.charts.model import Row

COLUMNS = {
    "setting_label": "Setting",
    "engine_build": "Engine build",
    "measured_on": "Measured",
    "speedup": "Speedup",
    "interval_low": "from",
    "interval_high": "to",
    "baseline_tps": "Baseline tokens/s",
    "speedup_change": "Speedup against the build before",
    "baseline_change": "Baseline against the build before",
    "step_label": "Detected step",
}
STEPS = (["none", "faster", "slower"], ["circle", "triangle-up", "triangle-down"])
COLOURS = (["none", "faster", "slower"], ["#808A99", "#0A7BBF", "#C77F00"])


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    scale = speedup_scale(rows)
    builds = list(dict.fromkeys(row["engine_build"] for row in sorted(rows, key=_moment)))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("engine_build:O", title="Engine build", sort=builds, axis=alt.Axis(labelAngle=-30)),
        detail="setting_label:N",
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
    )
    y = alt.Y("speedup:Q", title="Speedup (log scale)", scale=scale)
    lines = base.mark_line(color="#808A99", strokeWidth=1, opacity=0.7).encode(y=y)
    bars = (
        base.transform_filter("isValid(datum.interval_low)")
        .mark_rule(strokeWidth=1.5)
        .encode(
            y=alt.Y("interval_low:Q", scale=scale),
            y2="interval_high:Q",
            color=_step(alt.Color, COLOURS),
        )
    )
    points = base.mark_point(filled=True, size=POINT_PX2, opacity=1).encode(
        y=y, color=_step(alt.Color, COLOURS), shape=_step(alt.Shape, STEPS)
    )
    return alt.layer(unity(axis="y"), lines, bars, points).properties(height=320)


def takeaway(rows: list[Row]) -> str:
    steps = [row for row in rows if row["step_label"] != "none"]
    settings = counted(len({row["setting_label"] for row in rows}), "setting")
    if not steps:
        return f"No step has been detected in {settings}."
    slower = sum(row["step_label"] == "slower" for row in steps)
    return f"{counted(len(steps), 'step')} detected in {settings}, {slower} of them slower."


def alt_text(rows: list[Row]) -> str:
    settings = len({row["setting_label"] for row in rows})
    return f"Speedup with 95 % interval by engine build for {counted(settings, 'setting')}."


def _moment(row: Row) -> tuple[str, str]:
    return (str(row["measured_on"]), str(row["engine_build"]))


def _step(channel: type, scale: tuple[list[str], list[str]]) -> alt.Color | alt.Shape:
    made: alt.Color | alt.Shape = channel(
        "step_label:N",
        title="Detected step",
        scale=alt.Scale(domain=scale[0], range=scale[1]),
    )
    return made


BUILDS = Definition(
    title="Speedup by engine build on the same machine",
    parameters={"least": "2"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
