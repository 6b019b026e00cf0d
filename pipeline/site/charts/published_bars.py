"""What do articles claim? Published speedups, row by row."""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.intervals import LINE_PX, SpeedupAxis, lines_of_words, unity
from pipeline.site.charts.model import Definition, Row
from schemas.vocabulary import say

FASTER, SLOWER = "#0A7BBF", "#C77F00"
BAR_PX = 14
BETWEEN_BARS_PX = 20
ROOM_FOR_WORDS = 1.4  # right of the longest bar, on the log scale
COLUMNS = {
    "source_title": "Source",
    "place": "Place in the source",
    "configuration": "Configuration",
    "speedup": "Speedup",
    "high": "up to",
    "qualifier": "Said as",
    "as_printed": "As printed",
    "kind": "Kind",
}


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    """Bars from 1: to the right faster, to the left slower, the printed text at the end."""
    values = [{**row, "one": 1, "end": row["high"] or row["speedup"]} for row in rows]
    names = [row["bar_label"] for row in rows]
    ends = [1.0, *(row["end"] for row in values)]
    span = SpeedupAxis(low=min(ends) / 1.15, high=max(ends) * ROOM_FOR_WORDS)
    scale = span.scale
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y(
            "bar_label:N",
            title=None,
            sort=names,
            axis=lines_of_words(names, between="|", skipped=1),
        ),
        tooltip=[alt.Tooltip(field=name, title=title) for name, title in COLUMNS.items()],
    )
    bars = base.mark_bar(height=BAR_PX).encode(
        x=alt.X("one:Q", title="Published speedup (log scale)", scale=scale, axis=span.axis),
        x2="end:Q",
        color=alt.condition("datum.end < 1", alt.value(SLOWER), alt.value(FASTER)),
    )
    text = base.mark_text(align="left", dx=5).encode(
        x=alt.X("label_x:Q", scale=scale), text="as_printed:N"
    )
    return alt.layer(
        unity(axis="x"), bars, text.transform_calculate(label_x="max(1, datum.end)")
    ).properties(height=len(rows) * (_most_lines(rows) * LINE_PX + BETWEEN_BARS_PX))


def _most_lines(rows: list[Row]) -> int:
    return max(str(row["bar_label"]).count("|") for row in rows)


def takeaway(rows: list[Row]) -> str:
    sources = len({row["source"] for row in rows})
    low = min(row["speedup"] for row in rows)
    high = max(row["high"] or row["speedup"] for row in rows)
    slower = sum((row["high"] or row["speedup"]) < 1 for row in rows)
    where = "" if sources == 1 else f" in {say.count(sources, 'source')}"
    return (
        f"{say.count(len(rows), 'printed speedup')}{where}, from {say.times(low)} to"
        f" {say.times(high)}; {slower or 'none'} of them {'is' if slower == 1 else 'are'} below 1."
    )


def alt_text(rows: list[Row]) -> str:
    return f"Bars of {say.count(len(rows), 'published speedup')}, each with the text as printed."


PUBLISHED_BARS = Definition(
    title="Published speedups",
    parameters={"source": "all"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
