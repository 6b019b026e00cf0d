"""Draw rows of a chart with Altair. `charts.toml` names these functions and their options."""

from collections.abc import Callable, Mapping
from itertools import cycle, islice
from operator import itemgetter

import altair as alt

from pipeline.site.charts import axes, marks, theme
from pipeline.site.charts.marks import POINT_PX2, Picture, Tooltip

SERIES_PX = 18
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
FASTER, SLOWER = theme.BACKEND_COLOURS["cuda"], theme.BACKEND_COLOURS["cpu"]
MOMENT = itemgetter("measured_on", "build_number", "engine_build")  # b9294 is older than b10068
STEPS = ("none", "faster", "slower")
FEW_BUILDS = 4  # names of so many stand side by side
FEW_SETTINGS, FEW_CURVES = 4, 5  # so many can be named below the chart
EDGE_PX = 12  # a point at the end of an axis is whole
PLANE_TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
BAR_PX, BETWEEN_BARS_PX = 14, 20
ROOM_FOR_WORDS = 1.4  # right of the longest bar, on the log scale
# Next to a bar: the text as printed; of a long one the ratio, for which a phone has room.
WORDS = "length(datum.as_printed)>10?format(datum.speedup,'.2f')+'\\u00d7':datum.as_printed"
AT_BAR = {"label_x": "max(1, datum.end)", "words": WORDS}


def bands(
    rows: list[theme.Row], columns: Tooltip, *, line: str, series: str, title: str
) -> Picture:
    """One band per `line` in the order of the rows, one point with its interval per `series`."""
    lines = list(dict.fromkeys(row[line] for row in rows))
    colours, shapes = _scales(rows, series)
    span = axes.speedup_axis(rows)
    base = marks.base(rows, columns).encode(
        y=alt.Y(f"{line}:N", title=None, sort=lines, axis=axes.lines_of_words(lines)),
        yOffset=alt.YOffset(f"{series}:N", sort=colours[0]),
        color=marks.channel(alt.Color, series, title, colours),
    )
    bars = marks.bars(
        base, "isValid(datum.interval_low) && isValid(datum.interval_high)", 2
    ).encode(x=alt.X("interval_low:Q", scale=span.scale), x2="interval_high:Q")
    points = marks.points(base).encode(
        x=alt.X("speedup:Q", title="Speedup (log scale)", scale=span.scale, axis=span.axis),
        shape=marks.channel(alt.Shape, series, title, shapes),
    )
    words_px = (max(name.count(axes.BETWEEN) for name in lines) + 2) * axes.LINE_PX
    band_px = max(theme.BAND_PX, SERIES_PX * len(colours[0]), words_px)
    return marks.layered([axes.unity(axis="x"), bars, points], height=len(lines) * band_px)


def methods_by_depth(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Methods side by side over their depths."""
    colours, shapes = theme.method_scales(rows)
    base = marks.base(rows, columns).encode(
        x=alt.X("depth:O", title="Depth (tokens drafted per round)", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("method_label:N", sort=colours[0]),
        color=marks.channel(alt.Color, "method_label", "Method", colours),
    )
    return marks.upright(
        rows,
        base,
        width=2,
        height=300,
        shape=marks.channel(alt.Shape, "method_label", "Method", shapes),
    )


def speedup_by_depth(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """A line for each pair over its depths; a ring and a word mark the best depth."""
    lines = list(dict.fromkeys(row["line_label"] for row in rows))
    colour, shape = (
        marks.channel(
            kind, "line_label", "Pair", (lines, list(islice(cycle(values), len(lines))))
        ).legend(title=None, orient="bottom", columns=1)
        for kind, values in ((alt.Color, [*theme.METHOD_COLOURS.values()]), (alt.Shape, SHAPES))
    )
    base = marks.base(rows, columns).encode(
        x=alt.X("depth:O", title="Depth (tokens drafted per round)", axis=alt.Axis(labelAngle=0)),
        color=colour,
        detail="line_label:N",
    )
    drawn = marks.upright(
        rows, base, lines=base.mark_line(strokeWidth=1.5, aria=False), shape=shape
    )
    y = alt.Y("speedup:Q", scale=axes.speedup_axis(rows).scale)
    best = base.transform_filter("datum.best").encode(y=y)
    ring = best.mark_point(filled=False, size=4 * POINT_PX2, strokeWidth=2, aria=False)
    word = best.mark_text(dy=-16, fontWeight="bold", aria=False).encode(text=alt.value("best"))
    return marks.layered([*drawn.layer, ring, word], height=320)  # type: ignore[list-item]


def series_by_concurrency(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """A line for each arm on each machine over the number of requests at once."""
    levels = sorted({row["concurrency"] for row in rows})
    x = alt.X("concurrency:O", title="Requests at once", sort=levels, axis=alt.Axis(labelAngle=0))
    base, lines, shape = _series(rows, marks.base(rows, columns).encode(x=x))
    title = "Speedup of one stream (log scale)"
    return marks.upright(rows, base, lines=lines, title=title, opacity=0.6, shape=shape)


def series_by_context(rows: list[theme.Row], columns: Tooltip, *, column: str) -> Picture:
    """A line for each arm on each machine over the tokens before the answer, on a log axis."""
    depths = sorted({row["context_depth"] for row in rows})
    x = alt.X(
        "context_depth:Q",
        title="Tokens before the answer (log scale)",
        scale=alt.Scale(type="log", nice=False, padding=20),
        axis=alt.Axis(values=depths, format="d", labelAngle=0),
    )
    on = marks.base(rows, columns).encode(x=x, y=_CONTEXT_AXES[column])
    base, lines, shape = _series(rows, on)
    return marks.layered([lines, marks.points(base).encode(shape=shape)], height=280)


def _series(rows: list[theme.Row], on: alt.Chart) -> tuple[alt.Chart, alt.Chart, alt.Shape]:
    """What the series of a chart are drawn on, their lines, and their shapes, by method."""
    colours, shapes = theme.method_scales(rows)
    base = on.encode(
        color=marks.channel(alt.Color, "method_label", "Method", colours), detail="series:N"
    )
    dashes = alt.StrokeDash("method_label:N", sort=colours[0], legend=None)
    lines = base.mark_line(strokeWidth=1.5, aria=False).encode(strokeDash=dashes)
    return base, lines, marks.channel(alt.Shape, "method_label", "Method", shapes)


# Both begin at zero: what looks like half must be half.
_CONTEXT_AXES = {
    "round_cost": alt.Y("round_cost:Q", title="Round cost R", scale=alt.Scale(domainMin=0)),
    "acceptance_rate": alt.Y(
        "acceptance_rate:Q",
        title="Drafted tokens accepted",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
    ),
}


def settings_by_build(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """A grey line for each setting over the builds; detected steps in colour."""
    builds = list(dict.fromkeys(row["engine_build"] for row in sorted(rows, key=MOMENT)))
    # A phone has room for `llama.cpp` above `b6350`, but not next to it.
    axis = alt.Axis(
        labelAngle=-30 if len(builds) > FEW_BUILDS else 0, labelExpr="split(datum.label, ' ')"
    )
    base = marks.base(rows, columns).encode(
        x=alt.X("engine_build:O", title="Engine build", sort=builds, axis=axis), detail="line:N"
    )
    # Two dozen settings with their intervals would cover each other; those of the steps matter.
    few = len({row["line"] for row in rows}) <= FEW_SETTINGS
    step = "step_label", "Detected step"
    coloured = base.encode(
        color=marks.channel(alt.Color, *step, ([*STEPS], [theme.NEUTRAL, FASTER, SLOWER]))
    )
    return marks.upright(
        rows,
        coloured,
        lines=base.mark_line(color=theme.NEUTRAL, strokeWidth=1, opacity=0.7, aria=False),
        shown="true" if few else "datum.step_label !== 'none'",
        shape=marks.channel(
            alt.Shape, *step, ([*STEPS], ["circle", "triangle-up", "triangle-down"])
        ),
    )


def break_even_plane(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Tokens per round against a round's cost, both logarithmic; the losing half is shaded."""
    figures = [row[key] for row in rows for key in ("tokens_per_round", "round_cost")]
    ends = min([0.9, *figures]) / 1.08, max([4.0, *figures]) * 1.15
    colours, shapes = theme.method_scales(rows)
    scale = alt.Scale(type="log", domain=list(ends), nice=False)
    axis = alt.Axis(values=[t for t in PLANE_TICKS if ends[0] <= t <= ends[1]], format="~g")
    x = alt.X("round_cost:Q", title="Round cost R (log scale)", axis=axis, scale=scale)
    y = alt.Y("tokens_per_round:Q", title="Tokens per round (log scale)", axis=axis, scale=scale)
    points = marks.points(marks.base(rows, columns), opacity=0.85).encode(
        x=x,
        y=y,
        color=marks.channel(alt.Color, "method_label", "Method", colours),
        shape=marks.channel(alt.Shape, "method_label", "Method", shapes),
    )
    return marks.layered([*axes.iso_lines(ends, x, y), points], height=420)


def predicted_plane(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Both axes alike and logarithmic; on the dashed line a prediction is right."""
    values = [row[key] for row in rows for key in ("predicted", "speedup")]
    ends = [min([0.9, *values]) / 1.05, max([1.1, *values]) * 1.05]
    span = axes.SpeedupAxis(low=ends[0], high=ends[1])
    x = alt.X("predicted:Q", title="Predicted (log scale)", scale=span.scale, axis=span.axis)
    y = alt.Y("speedup:Q", title="Measured (log scale)", scale=span.scale, axis=span.axis)
    styles = {"Other machines": (FASTER, "circle"), "Its own probes": (SLOWER, "square")}
    kinds = [kind for kind in styles if any(row["kind"] == kind for row in rows)]
    right = alt.Chart(alt.InlineData(values=[{"predicted": end, "speedup": end} for end in ends]))
    line = right.mark_line(strokeDash=[4, 3], color=theme.NEUTRAL, aria=False).encode(x=x, y=y)
    colours, shapes = ((kinds, [styles[kind][at] for kind in kinds]) for at in (0, 1))
    points = marks.points(marks.base(rows, columns), opacity=0.7).encode(
        x=x,
        y=y,
        color=marks.channel(alt.Color, "kind", "Predicted from", colours),
        shape=marks.channel(alt.Shape, "kind", "Predicted from", shapes),
    )
    return marks.layered([line, points], height=420)


def curves(  # noqa: PLR0913 - two axes with their titles
    rows: list[theme.Row], columns: Tooltip, *, line: str, x: str, y: str, wide: str, high: str
) -> Picture:
    """Colour by backend; the curves of one backend are distinguished by their dashes."""
    colours = theme.backend_colours(row["backend"] for row in rows)
    ticks = sorted({row[x] for row in rows})  # counts: between them is nothing
    base = marks.base(rows, columns).encode(
        x=alt.X(
            f"{x}:Q",
            title=wide,
            axis=alt.Axis(values=ticks, format="d"),
            scale=alt.Scale(zero=False, nice=False, padding=EDGE_PX),
        ),
        y=alt.Y(f"{y}:Q", title=high, scale=alt.Scale(domainMin=0)),
        color=marks.channel(alt.Color, "backend", "Backend", colours),
        detail=f"{line}:N",
    )
    few = len({row[line] for row in rows}) <= FEW_CURVES
    legend = alt.Legend(title=None, orient="bottom", columns=1, symbolSize=300)
    lines = base.mark_line(strokeWidth=2, aria=False).encode(
        strokeDash=alt.StrokeDash(f"{line}:N", legend=legend if few else None)
    )
    return marks.layered([lines, base.mark_point(filled=True, opacity=1)], height=300)


def published_bars(rows: list[theme.Row], columns: Tooltip) -> Picture:
    """Bars from 1: to the right faster, to the left slower, what was printed at the end."""
    values = [{**row, "one": 1, "end": row["high"] or row["speedup"]} for row in rows]
    names = [row["bar_label"] for row in rows]
    ends = [1.0, *(row["end"] for row in values)]
    span = axes.SpeedupAxis(low=min(ends) / 1.15, high=max(ends) * ROOM_FOR_WORDS)
    axis = axes.lines_of_words(names, between="|", skipped=1)
    y = alt.Y("bar_label:N", title=None, sort=names, axis=axis)
    base = marks.base(values, columns).encode(y=y)
    bars = base.mark_bar(height=BAR_PX).encode(
        x=alt.X("one:Q", title="Published speedup (log scale)", scale=span.scale, axis=span.axis),
        x2="end:Q",
        color=alt.condition("datum.end < 1", alt.value(SLOWER), alt.value(FASTER)),
    )
    words = base.mark_text(align="left", dx=5, aria=False).transform_calculate(**AT_BAR)
    most = max(name.count("|") for name in names)
    x = alt.X("label_x:Q", scale=span.scale)
    return marks.layered(
        [axes.unity(axis="x"), bars, words.encode(x=x, text="words:N")],
        height=len(rows) * (most * axes.LINE_PX + BETWEEN_BARS_PX),
    )


PICTURES: Mapping[str, Callable[..., Picture]] = {
    drawing.__name__: drawing
    for drawing in (
        *(bands, methods_by_depth, speedup_by_depth, series_by_concurrency, series_by_context),
        settings_by_build,
        *(break_even_plane, predicted_plane, curves, published_bars),
    )
}


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
    return (domain, colours), (domain, list(islice(cycle(SHAPES), len(domain))))
