"""Build the common elements of pictures: axes, points, intervals, reference lines and layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt

from pipeline.site.charts.theme import DOT, NEUTRAL, Row, Scale

Picture: TypeAlias = alt.LayerChart
POINT_PX2 = 70
TIERS = {"filled": False, "color": DOT, "fill": DOT}
# The project's measurements are filled; other people's figures are outlines.
FILLED = alt.condition("datum.tier === 'measured'", alt.value(0.8), alt.value(0.1))
LINE_PX = 14
FARTHEST = 10.0  # the widest factor that an axis of speedups shows
LEAST_TICKS = 4
TICKS: tuple[tuple[float, ...], ...] = (
    (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100),
    (0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2),
    tuple(step / 20 for step in range(14, 33)),
)
BETWEEN = " · "  # the separator between the parts of a name; each part has its own line in a chart
ISO_SPEEDUPS = (0.25, 0.5, 1.0, 2.0, 4.0)


def base(rows: list[Row]) -> alt.Chart:
    """A chart of these rows, without marks yet."""
    # Each step copies a chart with its lists and dictionaries, but not its tuples.
    return alt.Chart(alt.InlineData(values=tuple(rows)))


def points(on: alt.Chart, **style: Any) -> alt.Chart:  # noqa: ANN401 - Altair's own
    """A point for each row, filled unless `style` says otherwise."""
    made: alt.Chart = on.mark_point(**{"filled": True, "size": POINT_PX2, "opacity": 1, **style})
    return made


def bars(on: alt.Chart, shown: str, width: float, opacity: float = 1) -> alt.Chart:
    """A line for each row that passes the Vega filter `shown`; the caller encodes its ends."""
    made: alt.Chart = on.transform_filter(shown).mark_rule(
        strokeWidth=width, opacity=opacity, aria=False
    )
    return made


def layered(layers: Sequence[alt.Chart], *, height: int) -> Picture:
    return alt.LayerChart(layer=list(layers), height=height)


def upright(  # noqa: PLR0913 - one argument per visual channel
    rows: list[Row],
    on: alt.Chart,
    *,
    shape: alt.Shape,
    lines: alt.Chart | None = None,
    over: Sequence[alt.Chart] = (),
    title: str = "Speedup (log scale)",
    drawn: tuple[str, str, str] = ("speedup", "interval_low", "interval_high"),
    shown: str = "true",
    width: float = 1.5,
    opacity: float = 1,
    height: int = 320,
) -> Picture:
    """Points with vertical intervals on a log axis of speedups, between `lines` and `over`.

    `drawn` names three columns: the point, and the low and the high end of its interval.
    """
    middle, low, high = drawn
    named = dict(zip(drawn, ("speedup", "interval_low", "interval_high"), strict=True))
    span = speedup_axis([{named[each]: row[each] for each in drawn} for row in rows])
    y = alt.Y(f"{middle}:Q", title=title, scale=span.scale, axis=span.axis)
    ranges = bars(on, f"isValid(datum.{low}) && ({shown})", width, opacity).encode(
        y=alt.Y(f"{low}:Q", scale=span.scale), y2=alt.Y2(f"{high}:Q")
    )
    dots = points(on).encode(y=y, shape=shape)
    under = [lines.encode(y=y)] if lines is not None else []
    return layered([unity(axis="y"), *under, ranges, dots, *over], height=height)


def channel(kind: type, column: str, title: str, scale: Scale) -> Any:  # noqa: ANN401 - a colour or a shape
    """An Altair encoding of a column as colour or shape; `scale` has its domain and range."""
    return kind(f"{column}:N", title=title, scale=alt.Scale(domain=scale[0], range=scale[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupAxis:
    """A log axis of speedups: its range and its gridlines."""

    low: float
    high: float

    @property
    def scale(self) -> alt.Scale:
        """The log scale; values outside the range are drawn at its nearer end."""
        return alt.Scale(type="log", domain=[self.low, self.high], nice=False, clamp=True)

    @property
    def axis(self) -> alt.Axis:
        return alt.Axis(values=list(self.ticks), labelExpr="datum.label + '×'", format="~g")  # noqa: RUF001 - the multiplication sign is meant

    @property
    def ticks(self) -> tuple[float, ...]:
        """The gridlines: at least four round numbers if the range has that many."""
        within = [tuple(t for t in each if self.low <= t <= self.high) for each in TICKS]
        return next((each for each in within if len(each) >= LEAST_TICKS), within[-1])


def speedup_axis(rows: list[Row]) -> SpeedupAxis:
    """An axis that includes all speedups and 1; intervals are cut off at 0.1 and 10.

    Text prints bounds beyond 0.1 and 10 as `<0.1` and `>10`. On the axis, a single very wide
    interval would squeeze all other intervals together.
    """
    middles = [row["speedup"] for row in rows if row["speedup"] is not None]
    bounds = [
        min(max(row[key], 1 / FARTHEST), FARTHEST)
        for row in rows
        for key in ("interval_low", "interval_high")
        if row.get(key) is not None
    ]
    return SpeedupAxis(
        low=min([0.9, *middles, *bounds]) / 1.03, high=max([1.1, *middles, *bounds]) * 1.03
    )


def lines_of_words(names: list[str], *, between: str = BETWEEN, skipped: int = 0) -> alt.Axis:
    """An axis whose names are split into lines, so that a phone shows the names in full.

    The renderer aligns the first line of a name with its mark; the offset centres all lines on the
    mark. The first `skipped` parts of a name only make the name unique and are not shown.
    """
    counts = sorted({name.count(between) + 1 for name in names})
    offsets: list[dict[str, Any]] = [
        {
            "test": f"length(split(datum.label, '{between}')) === {count}",
            "value": -(count - skipped - 1) * LINE_PX / 2,
        }
        for count in counts
    ]
    return alt.Axis(
        ticks=False,
        labelExpr=f"slice(split(datum.label, '{between}'), {skipped})",
        labelLineHeight=LINE_PX,
        labelOffset={"condition": offsets, "value": 0},
    )


def unity(*, axis: str) -> alt.Chart:
    """A dashed rule at 1, where speculation has no effect."""
    base = alt.Chart(alt.InlineData(values=[{"unity": 1}])).mark_rule(strokeDash=[4, 3], aria=False)
    rule: alt.Chart = base.encode(alt.X("unity:Q") if axis == "x" else alt.Y("unity:Q"))
    return rule


def iso_lines(ends: tuple[float, float], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The shaded losing half of the break-even plane, and labelled lines of equal speedup."""
    half = [{"round_cost": end, "tokens_per_round": end, "floor": ends[0]} for end in ends]
    lines = [
        {"round_cost": cost, "tokens_per_round": cost * iso, "iso": f"{iso:g}×"}  # noqa: RUF001 - the multiplication sign is meant
        for iso in ISO_SPEEDUPS
        for cost in (max(ends[0], ends[0] / iso), min(ends[1], ends[1] / iso))
    ]
    silent = alt.MarkDef(type="area", color=NEUTRAL, opacity=0.16, aria=False)
    shade = alt.Chart(alt.InlineData(values=half), mark=silent).encode(
        x=x, y=y, y2=alt.Y2("floor:Q")
    )
    dashed = alt.MarkDef(type="line", strokeDash=[4, 3], color=NEUTRAL, aria=False)
    rules = alt.Chart(alt.InlineData(values=lines), mark=dashed).encode(
        x=x, y=y, detail=alt.Detail("iso:N")
    )
    named = alt.Chart(alt.InlineData(values=lines[1::2])).encode(x=x, y=y, text=alt.Text("iso:N"))
    halo, words = (
        named.mark_text(align="right", baseline="bottom", dx=-4, dy=12, style=style, aria=False)
        for style in ("halo", "text")
    )
    return [shade, rules, halo, words]
