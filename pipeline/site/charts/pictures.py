"""Draw rows of a chart with Altair. `charts.toml` names these functions and their options.

Each takes the rows and the columns of its tooltip with their headings.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import altair as alt

from pipeline.site.charts import theme
from pipeline.site.charts.theme import (
    BETWEEN,
    LINE_PX,
    SpeedupAxis,
    iso_lines,
    lines_of_words,
    speedup_axis,
    unity,
)

Picture: TypeAlias = alt.LayerChart
Tooltip: TypeAlias = Mapping[str, str]

POINT_PX2 = 70
SERIES_PX = 18
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
FASTER, SLOWER = theme.BACKEND_COLOURS["cuda"], theme.BACKEND_COLOURS["cpu"]
MOMENT = itemgetter("measured_on", "engine_build")  # as text, so that it has an order
STEPS = ("none", "faster", "slower")
FEW_BUILDS = 5  # names of so many stand side by side
FEW_SETTINGS = 4
FEW_CURVES = 5  # so many can be named below the chart
PLANE_TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
BAR_PX, BETWEEN_BARS_PX = 14, 20
ROOM_FOR_WORDS = 1.4  # right of the longest bar, on the log scale


def bands(
    rows: list[theme.Row], columns: Tooltip, *, line: str, series: str, title: str
) -> Picture:
    """One band per `line` in the order of the rows, one point with its interval per `series`."""
    lines = list(dict.fromkeys(row[line] for row in rows))
    colours, shapes = _scales(rows, series)
    span = speedup_axis(rows)
    base = _base(rows, columns).encode(
        y=alt.Y(f"{line}:N", title=None, sort=lines, axis=lines_of_words(lines)),
        yOffset=alt.YOffset(f"{series}:N", sort=colours[0]),
        color=_channel(alt.Color, series, title, colours),
    )
    bars = _bars(base, "isValid(datum.interval_low) && isValid(datum.interval_high)", 2).encode(
        x=alt.X("interval_low:Q", scale=span.scale), x2="interval_high:Q"
    )
    points = _points(base).encode(
        x=alt.X("speedup:Q", title="Speedup (log scale)", scale=span.scale, axis=span.axis),
        shape=_channel(alt.Shape, series, title, shapes),
    )
    words_px = (max(name.count(BETWEEN) for name in lines) + 2) * LINE_PX
    band_px = max(theme.BAND_PX, SERIES_PX * len(colours[0]), words_px)
    return _layered([unity(axis="x"), bars, points], height=len(lines) * band_px)


def methods_by_depth(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Methods side by side over their depths."""
    colours, shapes = theme.method_scales(rows)
    base = _base(rows, columns).encode(
        x=alt.X("depth:O", title="Depth (tokens drafted per round)", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("method_label:N", sort=colours[0]),
        color=_channel(alt.Color, "method_label", "Method", colours),
    )
    return _upright(
        rows, base, width=2, height=300, shape=_channel(alt.Shape, "method_label", "Method", shapes)
    )


def speedup_by_depth(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """A line for each pair over its depths; a ring and a word mark the best depth."""
    lines = list(dict.fromkeys(row["line_label"] for row in rows))
    colour, shape = (
        _channel(
            kind, "line_label", "Pair", (lines, [look[at % len(look)] for at in range(len(lines))])
        ).legend(title=None, orient="bottom", columns=1, labelLimit=600)
        for kind, look in ((alt.Color, [*theme.METHOD_COLOURS.values()]), (alt.Shape, SHAPES))
    )
    base = _base(rows, columns).encode(
        x=alt.X("depth:O", title="Depth (tokens drafted per round)", axis=alt.Axis(labelAngle=0)),
        color=colour,
        detail="line_label:N",
    )
    drawn = _upright(rows, base, lines=base.mark_line(strokeWidth=1.5, aria=False), shape=shape)
    y = alt.Y("speedup:Q", scale=speedup_axis(rows).scale)
    best = base.transform_filter("datum.best").encode(y=y)
    ring = best.mark_point(filled=False, size=4 * POINT_PX2, strokeWidth=2, aria=False)
    word = best.mark_text(dy=-16, fontWeight="bold", aria=False).encode(text=alt.value("best"))
    return _layered([*drawn.layer, ring, word], height=320)  # type: ignore[list-item]


def series_by_concurrency(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """A line for each arm on each machine over the number of requests at once."""
    colours, shapes = theme.method_scales(rows)
    levels = sorted({row["concurrency"] for row in rows})
    base = _base(rows, columns).encode(
        x=alt.X(
            "concurrency:O", title="Requests at once", sort=levels, axis=alt.Axis(labelAngle=0)
        ),
        color=_channel(alt.Color, "method_label", "Method", colours),
        detail="series:N",
    )
    return _upright(
        rows,
        base,
        lines=base.mark_line(strokeWidth=1.5, aria=False).encode(
            strokeDash=alt.StrokeDash("method_label:N", sort=colours[0], legend=None)
        ),
        title="Speedup of one stream (log scale)",
        opacity=0.6,
        shape=_channel(alt.Shape, "method_label", "Method", shapes),
    )


def settings_by_build(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """A grey line for each setting over the builds; detected steps in colour."""
    builds = list(dict.fromkeys(row["engine_build"] for row in sorted(rows, key=MOMENT)))
    # A phone has room for `llama.cpp` above `b6350`, but not next to it.
    axis = alt.Axis(
        labelAngle=-30 if len(builds) > FEW_BUILDS else 0, labelExpr="split(datum.label, ' ')"
    )
    base = _base(rows, columns).encode(
        x=alt.X("engine_build:O", title="Engine build", sort=builds, axis=axis), detail="line:N"
    )
    # Two dozen settings with their intervals would cover each other; those of the steps matter.
    few = len({row["line"] for row in rows}) <= FEW_SETTINGS
    step = "step_label", "Detected step"
    coloured = base.encode(
        color=_channel(alt.Color, *step, ([*STEPS], [theme.NEUTRAL, FASTER, SLOWER]))
    )
    return _upright(
        rows,
        coloured,
        lines=base.mark_line(color=theme.NEUTRAL, strokeWidth=1, opacity=0.7, aria=False),
        shown="true" if few else "datum.step_label !== 'none'",
        shape=_channel(alt.Shape, *step, ([*STEPS], ["circle", "triangle-up", "triangle-down"])),
    )


def break_even_plane(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Tokens per round against the cost of a round, both logarithmic: equal speedups are parallel.

    Where a round costs more than it yields the plane is shaded: nothing there wins.
    """
    figures = [row[key] for row in rows for key in ("tokens_per_round", "round_cost")]
    ends = min([0.9, *figures]) / 1.08, max([4.0, *figures]) * 1.15
    colours, shapes = theme.method_scales(rows)
    scale = alt.Scale(type="log", domain=list(ends), nice=False)
    axis = alt.Axis(values=[t for t in PLANE_TICKS if ends[0] <= t <= ends[1]], format="~g")
    x = alt.X("round_cost:Q", title="Round cost R (log scale)", axis=axis, scale=scale)
    y = alt.Y("tokens_per_round:Q", title="Tokens per round (log scale)", axis=axis, scale=scale)
    points = _points(_base(rows, columns), opacity=0.85).encode(
        x=x,
        y=y,
        color=_channel(alt.Color, "method_label", "Method", colours),
        shape=_channel(alt.Shape, "method_label", "Method", shapes),
    )
    return _layered([*iso_lines(ends, x, y), points], height=420)


def predicted_plane(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Both axes alike and logarithmic; on the dashed line a prediction is right."""
    values = [row[key] for row in rows for key in ("predicted", "speedup")]
    ends = [min([0.9, *values]) / 1.05, max([1.1, *values]) * 1.05]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x = alt.X("predicted:Q", title="Predicted speedup (log scale)", scale=scale)
    y = alt.Y("speedup:Q", title="Measured speedup (log scale)", scale=scale)
    looks = {"Other machines": (FASTER, "circle"), "Its own probes": (SLOWER, "square")}
    kinds = [kind for kind in looks if any(row["kind"] == kind for row in rows)]
    right = alt.Chart(alt.InlineData(values=[{"predicted": end, "speedup": end} for end in ends]))
    line = right.mark_line(strokeDash=[4, 3], color=theme.NEUTRAL, aria=False).encode(x=x, y=y)
    colours, shapes = ((kinds, [looks[kind][look] for kind in kinds]) for look in (0, 1))
    points = _points(_base(rows, columns), opacity=0.7).encode(
        x=x,
        y=y,
        color=_channel(alt.Color, "kind", "Predicted from", colours),
        shape=_channel(alt.Shape, "kind", "Predicted from", shapes),
    )
    return _layered([line, points], height=420)


def verification_curves(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Colour by backend; the curves of one backend are distinguished by their dashes."""
    colours = theme.backend_colours(row["backend"] for row in rows)
    base = _base(rows, columns).encode(
        x=alt.X("width:Q", title="Tokens verified in one step", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("step_ratio:Q", title="Cost in single steps", scale=alt.Scale(domainMin=0)),
        color=_channel(alt.Color, "backend", "Backend", colours),
        detail="curve_label:N",
    )
    few = len({row["curve_label"] for row in rows}) <= FEW_CURVES
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=600, symbolSize=300)
    lines = base.mark_line(strokeWidth=2, aria=False).encode(
        strokeDash=alt.StrokeDash("curve_label:N", legend=legend if few else None)
    )
    return _layered([lines, base.mark_point(filled=True, opacity=1)], height=300)


def published_bars(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Bars from 1: to the right faster, to the left slower, the printed text at the end."""
    values = [{**row, "one": 1, "end": row["high"] or row["speedup"]} for row in rows]
    names = [row["bar_label"] for row in rows]
    ends = [1.0, *(row["end"] for row in values)]
    span = SpeedupAxis(low=min(ends) / 1.15, high=max(ends) * ROOM_FOR_WORDS)
    axis = lines_of_words(names, between="|", skipped=1)
    base = _base(values, columns).encode(y=alt.Y("bar_label:N", title=None, sort=names, axis=axis))
    bars = base.mark_bar(height=BAR_PX).encode(
        x=alt.X("one:Q", title="Published speedup (log scale)", scale=span.scale, axis=span.axis),
        x2="end:Q",
        color=alt.condition("datum.end < 1", alt.value(SLOWER), alt.value(FASTER)),
    )
    words = base.mark_text(align="left", dx=5, aria=False).encode(
        x=alt.X("label_x:Q", scale=span.scale), text="as_printed:N"
    )
    most = max(name.count("|") for name in names)
    return _layered(
        [unity(axis="x"), bars, words.transform_calculate(label_x="max(1, datum.end)")],
        height=len(rows) * (most * LINE_PX + BETWEEN_BARS_PX),
    )


PICTURES: Mapping[str, Callable[..., Picture]] = {
    drawing.__name__: drawing
    for drawing in (
        *(bands, methods_by_depth, speedup_by_depth, series_by_concurrency, settings_by_build),
        *(break_even_plane, predicted_plane, verification_curves, published_bars),
    )
}


def _base(rows: list[theme.Row], columns: Tooltip) -> alt.Chart:
    tooltip = [alt.Tooltip(field=name, title=title) for name, title in columns.items()]
    base: alt.Chart = alt.Chart(alt.InlineData(values=rows)).encode(
        tooltip=tooltip, description=alt.DescriptionValue(alt.ExprRef(theme.spoken(rows, columns)))
    )
    return base


def _points(base: alt.Chart, opacity: float = 1) -> alt.Chart:
    points: alt.Chart = base.mark_point(filled=True, size=POINT_PX2, opacity=opacity)
    return points


def _bars(base: alt.Chart, shown: str, width: float, opacity: float = 1) -> alt.Chart:
    bars: alt.Chart = base.transform_filter(shown).mark_rule(
        strokeWidth=width, opacity=opacity, aria=False
    )
    return bars


def _layered(layers: Sequence[alt.Chart], *, height: int) -> Picture:
    picture: Picture = alt.LayerChart(layer=list(layers)).properties(height=height)
    return picture


def _upright(  # noqa: PLR0913 - one argument per visual channel
    rows: list[theme.Row],
    base: alt.Chart,
    *,
    shape: alt.Shape,
    lines: alt.Chart | None = None,
    title: str = "Speedup (log scale)",
    shown: str = "true",
    width: float = 1.5,
    opacity: float = 1,
    height: int = 320,
) -> Picture:
    """Points with upright intervals on a log axis of speedups, on `lines` where they are given."""
    span = speedup_axis(rows)
    y = alt.Y("speedup:Q", title=title, scale=span.scale, axis=span.axis)
    bars = _bars(base, f"isValid(datum.interval_low) && ({shown})", width, opacity).encode(
        y=alt.Y("interval_low:Q", scale=span.scale), y2="interval_high:Q"
    )
    points = _points(base).encode(y=y, shape=shape)
    under = [lines.encode(y=y)] if lines is not None else []
    return _layered([unity(axis="y"), *under, bars, points], height=height)


def _scales(rows: list[theme.Row], series: str) -> tuple[theme.Scale, theme.Scale]:
    """Colours and shapes of what stands side by side in a band: methods, arms or backends."""
    if series == "method_label":
        return theme.method_scales(rows)
    if series == "backend":
        domain, colours = theme.backend_colours(row["backend"] for row in rows)
    else:
        method_of = {row[series]: row["method"] for row in rows}
        domain = sorted(method_of)
        colours = [theme.colour(method_of[each]) for each in domain]
    return (domain, colours), (domain, [SHAPES[at % len(SHAPES)] for at in range(len(domain))])


def _channel(channel: type, column: str, title: str, scale: theme.Scale) -> Any:  # noqa: ANN401 - a colour or a shape
    return channel(f"{column}:N", title=title, scale=alt.Scale(domain=scale[0], range=scale[1]))
