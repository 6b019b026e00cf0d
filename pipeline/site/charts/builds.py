"""Did an engine build make it faster or slower? A setting on one machine over builds."""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.intervals import POINT_PX2, speedup_axis, unity
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import NEUTRAL
from schemas.vocabulary import say

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
COLOURS = (["none", "faster", "slower"], [NEUTRAL, "#0A7BBF", "#C77F00"])
FEW_BUILDS = 5  # names of so many stand side by side
FEW_SETTINGS = 4


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    span = speedup_axis(rows)
    few = len({row["line"] for row in rows}) <= FEW_SETTINGS
    seen = "true" if few else "datum.step_label !== 'none'"
    builds = list(dict.fromkeys(row["engine_build"] for row in sorted(rows, key=_moment)))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "engine_build:O",
            title="Engine build",
            sort=builds,
            # A phone has room for `llama.cpp` above `b6350`, but not beside it.
            axis=alt.Axis(
                labelAngle=-30 if len(builds) > FEW_BUILDS else 0,
                labelExpr="split(datum.label, ' ')",
            ),
        ),
        detail="line:N",
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
    )
    y = alt.Y("speedup:Q", title="Speedup (log scale)", scale=span.scale, axis=span.axis)
    lines = base.mark_line(color=NEUTRAL, strokeWidth=1, opacity=0.7).encode(y=y)
    # Two dozen settings with their intervals would cover each other; those of the steps matter.
    bars = (
        base.transform_filter(f"isValid(datum.interval_low) && ({seen})")
        .mark_rule(strokeWidth=1.5)
        .encode(
            y=alt.Y("interval_low:Q", scale=span.scale),
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
    settings = say.count(len({row["line"] for row in rows}), "setting")
    if not steps:
        return f"No step has been detected in {settings}."
    slower = sum(row["step_label"] == "slower" for row in steps)
    found = say.count(len(steps), "step")
    return f"{found} detected in {settings}, {slower or 'none'} of them slower."


def alt_text(rows: list[Row]) -> str:
    settings = len({row["line"] for row in rows})
    return f"Speedup with 95 % interval by engine build for {say.count(settings, 'setting')}."


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
