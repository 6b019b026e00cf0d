"""Draw the rows of a chart with Altair. `charts.toml` names these functions and their options."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import cycle, islice
from operator import itemgetter

import altair as alt

from pipeline.site.charts import marks, theme
from pipeline.site.charts.marks import POINT_PX2, Picture

SERIES_PX = 18
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
TICK_PX, SQUARE_PX = 22, 20
SIZE = itemgetter("size_order")
DEVICE_AND_SIZE = itemgetter("device_label", "size_order", "method_label", "speedup")
SIZES_AXIS = alt.Axis(orient="top", labelAngle=0, ticks=False)
SPEEDUP_LEGEND = alt.Legend(
    orient="bottom", type="symbol", symbolType="square", values=[0.5, 0.75, 1, 1.5, 2]
)
THOUSANDS = "datum.value < 1024 ? datum.value : datum.value / 1024 + 'k'"
MAP_ENDS, DARK_FROM, MAP_INK = [0.4, 2.5], 0.6, "#18212d"
MOMENT = itemgetter("measured_on", "build_number", "engine_build")  # b9294 precedes b10068
STEPS = ("none", "faster", "slower")
FEW_BUILDS = 4  # this many names fit side by side
FEW_SETTINGS = 4  # this many can be named below the chart
EDGE_PX = 12  # so that a point at the end of an axis is not cut off
PLANE_TICKS = (0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)


def bands(rows: list[theme.Row]) -> Picture:
    """One band per task in the order of the rows, with a point and its interval per arm."""
    lines = list(dict.fromkeys(row["task_label"] for row in rows))
    method_of = {row["arm_label"]: row["method"] for row in rows}
    arms = sorted(method_of)
    colours = arms, [theme.colour(method_of[each]) for each in arms]
    shapes = arms, list(islice(cycle(SHAPES), len(arms)))
    span = marks.speedup_axis(rows)
    base = marks.base(rows).encode(
        y=alt.Y("task_label:N", title=None, sort=lines, axis=marks.lines_of_words(lines)),
        yOffset=alt.YOffset("arm_label:N", sort=arms),
        color=marks.channel(alt.Color, "arm_label", "Arm", colours),
    )
    bars = marks.bars(
        base, "isValid(datum.interval_low) && isValid(datum.interval_high)", 2
    ).encode(x=alt.X("interval_low:Q", scale=span.scale), x2=alt.X2("interval_high:Q"))
    points = marks.points(base).encode(
        x=alt.X("speedup:Q", title="Speedup (log scale)", scale=span.scale, axis=span.axis),
        shape=marks.channel(alt.Shape, "arm_label", "Arm", shapes),
    )
    words_px = (max(name.count(marks.BETWEEN) for name in lines) + 2) * marks.LINE_PX
    band_px = max(theme.BAND_PX, SERIES_PX * len(arms), words_px)
    return marks.layered([marks.unity(axis="x"), bars, points], height=len(lines) * band_px)


def spread(rows: list[theme.Row], *, x: str, wide: str) -> Picture:
    """One band per `line_label`: a dot for each row (filled if measured), a tick at `typical`."""
    lines = list(dict.fromkeys(row["line_label"] for row in rows))
    typical = {row["line_label"]: row["typical"] for row in rows}
    ticks = [{"line_label": line, "typical": value} for line, value in typical.items()]
    span = marks.speedup_axis([{"speedup": row[x]} for row in rows])
    y = alt.Y("line_label:N", title=None, sort=lines, axis=marks.lines_of_words(lines))
    own = [{name: row[name] for name in row if name != "typical"} for row in rows]
    dots = marks.points(marks.base(own), **marks.TIERS).encode(
        x=alt.X(f"{x}:Q", title=f"{wide} (log scale)", scale=span.scale, axis=span.axis),
        y=y,
        fillOpacity=marks.FILLED,
    )
    tick = alt.Chart(alt.InlineData(values=ticks)).mark_tick(
        size=TICK_PX, thickness=3, color=theme.DOT, opacity=1, aria=False
    )
    words_px = (max(name.count(marks.BETWEEN) for name in lines) + 2) * marks.LINE_PX
    drawn = tick.encode(x=alt.X("typical:Q", scale=span.scale), y=y)
    height = len(lines) * max(theme.BAND_PX, words_px)
    return marks.layered([marks.unity(axis="x"), drawn, dots], height=height)


def heat_map(rows: list[theme.Row]) -> Picture:
    """A heat map of devices by model size, for the selected task and backend or method.

    The devices that most people tried come first; empty rows and columns are left out.
    """
    rows = sorted(rows, key=DEVICE_AND_SIZE)  # neighbouring equal values compress better
    devices = _most_people_first(row for row in rows if row["choice"] == row["task_label"] == "any")
    sizes = list(dict.fromkeys(row["size_class"] for row in sorted(rows, key=SIZE)))
    chosen = {"through": ("choice", "Backend or method "), "doing": ("task_label", "Task ")}
    selects = [_select(rows, name, *each) for name, each in chosen.items()]
    # A height per step would do, but makes the library complain in the reader's console.
    of_choice = {(x["choice"], x["task_label"], x["device_label"]) for x in rows}
    counts = Counter("|".join(each[:-1]) for each in of_choice)
    shown = alt.param(name="shown", value=dict(sorted(counts.items())))
    high = alt.ExprRef(f"{SQUARE_PX} * (shown[through + '|' + doing] || 0)")
    base = (
        marks.base(rows)
        .transform_filter(" && ".join(f"datum.{c} === {n}" for n, (c, _) in chosen.items()))
        .transform_calculate(figure="format(datum.speedup, '.2f') + '\u00d7'")
        .encode(
            x=alt.X("size_class:N", title="Model size (parameters)", sort=sizes, axis=SIZES_AXIS),
            y=alt.Y("device_label:N", title=None, sort=devices, scale=alt.Scale(range=[0, high])),
        )
    )
    colours = alt.Scale(
        type="log", scheme="blueorange", reverse=True, domain=MAP_ENDS, clamp=True, nice=False
    )
    squares = base.mark_rect().encode(
        color=alt.Color("speedup:Q", title="Speedup", scale=colours, legend=SPEEDUP_LEGEND),
        stroke=alt.condition("datum.tier === 'published'", alt.value(None), alt.value(MAP_INK)),
        strokeWidth=alt.condition("datum.tier === 'measured'", alt.value(2), alt.value(0.75)),
    )
    dark = f"abs(log(datum.speedup)) > {DARK_FROM}"
    figures = base.mark_text(aria=False).encode(
        text="figure:N",
        color=alt.condition(dark, alt.value("#fff"), alt.value(MAP_INK)),
    )
    picture = marks.layered([squares, figures], height=len(devices) * SQUARE_PX + EDGE_PX)
    return picture.add_params(*selects, shown)


def _most_people_first(rows: Iterable[theme.Row]) -> list[str]:
    people = Counter[str]()
    for row in rows:
        people[row["device_label"]] += row["people"]
    return [label for label, _ in people.most_common()]


def _select(rows: list[theme.Row], name: str, column: str, words: str) -> alt.Parameter:
    """A list in which the reader selects a value of a column, or any."""
    options = ["any", *sorted({row[column] for row in rows} - {"any"})]
    return alt.param(name=name, value="any", bind=alt.binding_select(options=options, name=words))


def speedup_by_depth(rows: list[theme.Row]) -> Picture:
    """Speedup against depth, one line per pair; a ring and the word "best" mark the best depth."""
    pairs = list(dict.fromkeys(row["line_label"] for row in rows))
    colour, shape = (
        marks.channel(
            kind, "line_label", "Pair", (pairs, list(islice(cycle(values), len(pairs))))
        ).legend(title=None, orient="bottom", columns=1)
        for kind, values in ((alt.Color, [*theme.METHOD_COLOURS.values()]), (alt.Shape, SHAPES))
    )
    base = marks.base(rows).encode(
        x=alt.X("depth:O", title="Depth (tokens drafted per round)", axis=alt.Axis(labelAngle=0)),
        color=colour,
        detail=alt.Detail("line_label:N"),
    )
    y = alt.Y("speedup:Q", scale=marks.speedup_axis(rows).scale)
    best = base.transform_filter("datum.best").encode(y=y)
    ring = best.mark_point(filled=False, size=4 * POINT_PX2, strokeWidth=2, aria=False)
    word = best.mark_text(dy=-16, fontWeight="bold", aria=False).encode(text=alt.TextValue("best"))
    lines = base.mark_line(strokeWidth=1.5, aria=False)
    return marks.upright(rows, base, lines=lines, over=[ring, word], shape=shape)


def series_by_concurrency(rows: list[theme.Row]) -> Picture:
    """Speedup against the number of concurrent requests, one line per arm and machine."""
    levels = sorted({row["concurrency"] for row in rows})
    x = alt.X("concurrency:O", title="Requests at once", sort=levels, axis=alt.Axis(labelAngle=0))
    base, lines, shape = _series(rows, marks.base(rows).encode(x=x))
    title = "Speedup of one stream (log scale)"
    return marks.upright(rows, base, lines=lines, title=title, opacity=0.6, shape=shape)


def series_by_context(rows: list[theme.Row]) -> Picture:
    """Speedup against the tokens before the answer (log axis), one line per arm and machine."""
    x = alt.X(
        "context_depth:Q",
        title="Tokens before the answer (log scale)",
        scale=alt.Scale(type="log", base=2, nice=False, padding=20),
        axis=alt.Axis(labelExpr=THOUSANDS, labelAngle=0),
    )
    base, lines, shape = _series(rows, marks.base(rows).encode(x=x))
    return marks.upright(rows, base, lines=lines, opacity=0.6, shape=shape)


def _series(rows: list[theme.Row], on: alt.Chart) -> tuple[alt.Chart, alt.Chart, alt.Shape]:
    """The base of a chart with one line per series, those lines, and the point shapes by method."""
    colours, shapes = theme.method_scales(rows)
    base = on.encode(
        color=marks.channel(alt.Color, "method_label", "Method", colours),
        detail=alt.Detail("series:N"),
    )
    dashes = alt.StrokeDash("method_label:N", sort=colours[0], legend=None)
    lines = base.mark_line(strokeWidth=1.5, aria=False).encode(strokeDash=dashes)
    return base, lines, marks.channel(alt.Shape, "method_label", "Method", shapes)


def settings_by_build(rows: list[theme.Row]) -> Picture:
    """The change in speedup over builds: a grey line per setting, coloured points at steps."""
    builds = list(dict.fromkeys(row["engine_build"] for row in sorted(rows, key=MOMENT)))
    # A phone has room for `llama.cpp` above `b6350`, but not next to it.
    axis = alt.Axis(
        labelAngle=-30 if len(builds) > FEW_BUILDS else 0, labelExpr="split(datum.label, ' ')"
    )
    base = marks.base(rows).encode(
        x=alt.X("engine_build:O", title="Engine build", sort=builds, axis=axis),
        detail=alt.Detail("line:N"),
    )
    # Two dozen settings with intervals would cover each other, so only steps have intervals.
    few = len({row["line"] for row in rows}) <= FEW_SETTINGS
    step = "step_label", "Detected step"
    colours = [theme.NEUTRAL, theme.FASTER, theme.SLOWER]
    coloured = base.encode(color=marks.channel(alt.Color, *step, ([*STEPS], colours)))
    return marks.upright(
        rows,
        coloured,
        lines=base.mark_line(color=theme.NEUTRAL, strokeWidth=1, opacity=0.7, aria=False),
        title="Speedup against the first or best build (log scale)",
        drawn=("change", "change_low", "change_high"),
        shown="true" if few else "datum.step_label !== 'none'",
        shape=marks.channel(
            alt.Shape, *step, ([*STEPS], ["circle", "triangle-up", "triangle-down"])
        ),
    )


def break_even_plane(rows: list[theme.Row]) -> Picture:
    """Tokens per round against a round's cost, both logarithmic; the losing half is shaded."""
    figures = [row[key] for row in rows for key in ("tokens_per_round", "round_cost")]
    ends = min([0.9, *figures]) / 1.08, max([4.0, *figures]) * 1.15
    colours, shapes = theme.method_scales(rows)
    scale = alt.Scale(type="log", domain=list(ends), nice=False)
    axis = alt.Axis(values=[t for t in PLANE_TICKS if ends[0] <= t <= ends[1]], format="~g")
    x = alt.X("round_cost:Q", title="Round cost R (log scale)", axis=axis, scale=scale)
    y = alt.Y("tokens_per_round:Q", title="Tokens per round (log scale)", axis=axis, scale=scale)
    points = marks.points(marks.base(rows), filled=False).encode(
        x=x,
        y=y,
        color=marks.channel(alt.Color, "method_label", "Method", colours),
        fill=marks.channel(alt.Fill, "method_label", "Method", colours),
        fillOpacity=marks.FILLED,
        shape=marks.channel(alt.Shape, "method_label", "Method", shapes),
    )
    return marks.layered([*marks.iso_lines(ends, x, y), points], height=420)


PICTURES: Mapping[str, Callable[..., Picture]] = {
    drawing.__name__: drawing
    for drawing in (
        *(heat_map, spread, bands, speedup_by_depth, series_by_concurrency, series_by_context),
        *(settings_by_build, break_even_plane),
    )
}
