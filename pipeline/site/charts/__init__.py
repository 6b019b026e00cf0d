"""Draw the charts in `charts.toml`: run each query, and make a picture, a table and a caption."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias

import duckdb
import msgspec
import orjson
import polars as pl
import vl_convert
from polars import selectors as cs

from pipeline.cache import Cache
from pipeline.site.charts import captions
from pipeline.site.charts.theme import CONFIGS, STATIC_WIDTH_PX, Row, darkened
from pipeline.site.rows import frame
from schemas.vocabulary import say
from schemas.vocabulary.documents import document

Value: TypeAlias = "str | float | int | bool | None"
# The parts that are slow to draw: the specification and its picture for light pages.
Drawn: TypeAlias = tuple[dict[str, Any], str]

SIGNIFICANT_DIGITS = 4
NOTHING = "Nothing has been measured here yet."
OF_CELLS = "another machine"  # the kind of interval that cells have
# A picture is an image on the page; a screen reader finds the text of its marks in the table.
SPOKEN = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
TAG = re.compile(r"<[^<>]+>")
WORD = re.compile(r"\w+")
LONG_NUMBER = re.compile(r"(?<!\d)\d+\.\d{2,}")
STATEMENT = re.compile(r"[;.] ")
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The figures behind a chart: column headings and rows, for `<table>` and CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in every form that a page needs; `key` names its files below `assets/charts`.

    `spec` is Vega-Lite with `width: "container"`; the page adds a theme. `svg` and `svg_dark` are
    static pictures of fixed size with a transparent background, for a light and a dark page.
    `takeaway` states the findings in a few sentences; `alt` describes the picture. An `empty` chart
    has no rows: show its takeaway instead of a picture.
    """

    key: str
    name: str
    title: str
    spec: dict[str, Any]  # Vega-Lite may have any JSON structure
    svg: str
    svg_dark: str
    table: Table
    takeaway: str
    alt: str
    empty: bool

    @property
    def headline(self) -> str:
        """The first statement of the takeaway, as a title; `rest` is the remainder."""
        return STATEMENT.split(self.takeaway, maxsplit=1)[0].removesuffix(".")

    @property
    def rest(self) -> str:
        found = STATEMENT.split(self.takeaway, maxsplit=1)[1:]
        return "".join(f"{each[:1].upper()}{each[1:]}" for each in found)

    @property
    def size(self) -> tuple[str, str]:
        """The width and height of the static picture, so that a page can reserve space for it."""
        found = SIZE.search(self.svg)
        return (found[1], found[2]) if found else ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One entry in `charts.toml`; `columns` maps the query's columns to headings.

    Without `caption`, the function in `captions` with the chart's name writes the caption. `query`
    names the SQL file if it is not named after the chart. `interval` says what the chart's
    intervals predict, e.g. "another machine".
    """

    title: str
    parameters: Mapping[str, str]
    picture: str
    columns: Mapping[str, str]
    alt: str
    counts: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    caption: str | None = None
    interval: str = OF_CELLS


@cache
def definitions() -> Mapping[str, Definition]:
    file = document("charts", "pipeline.site")
    found = {}
    for name, entry in file["chart"].items():
        kind = entry.get("interval", OF_CELLS).capitalize()
        ends = {"interval_low": f"{kind}, from", "interval_high": f"{kind}, to"}
        headings = file["headings"] | ends | entry.pop("headings", {})
        columns = {column: headings[column] for column in entry.pop("columns")}
        found[name] = Definition(columns=columns, **entry)
    return found


def draw(
    connection: duckdb.DuckDBPyConnection, name: str, cache: Cache | None = None, **parameters: str
) -> Chart:
    """Draw the chart with this name. Raises `KeyError` for an unknown name or parameter."""
    rows = rows_of(connection, name, **parameters)
    return drawn(name, rows, cache, of=tuple(parameters.values()))


def rows_of(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> list[Row]:
    """The rows of a chart's query. Raises `KeyError` for an unknown name or parameter."""
    definition = definitions()[name]
    unknown = set(parameters) - set(definition.parameters)
    if unknown:
        raise KeyError(*sorted(unknown))
    query = definition.query or name
    return as_rows(frame(connection, query, **{**definition.parameters, **parameters}))


def drawn(
    name: str, rows: list[Row], cache: Cache | None = None, *, of: tuple[str, ...] = ()
) -> Chart:
    """Draw a chart from rows of its query; `of` tells it from other charts with this name."""
    definition = definitions()[name]
    spec, svg = {}, ""
    if rows:
        made = (cache or Cache()).get_or_make([definition, rows], lambda: _draw(definition, rows))
        spec, svg = msgspec.json.decode(made, type=Drawn)
    return Chart(
        key="--".join([name.replace("_", "-"), *of]),
        name=name,
        title=definition.title,
        spec=spec,
        svg=svg,
        svg_dark=darkened(svg),
        table=Table(
            columns=tuple(definition.columns.values()),
            rows=tuple(tuple(row[key] for key in definition.columns) for row in rows),
        ),
        takeaway=_takeaway(name, definition, rows) if rows else NOTHING,
        alt=_alt(definition, rows) if rows else f"{definition.title}: no data yet.",
        empty=not rows,
    )


def _draw(definition: Definition, rows: list[Row]) -> bytes:
    """Draw a chart; return its SVG and its specification (no `config`, container width) as JSON."""
    # Altair takes a second to load, and a build draws nothing if all its charts are cached.
    from altair.utils.schemapi import debug_mode  # noqa: PLC0415

    from pipeline.site.charts import pictures  # noqa: PLC0415

    draws = pictures.PICTURES[definition.picture]
    width = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    with debug_mode(arg=False):  # a test checks each chart; checking takes as long as drawing
        made: dict[str, Any] = draws(rows, **definition.options).to_dict(validate=False) | width
    del made["config"]
    _explain(made, rows, definition.columns)
    spec = rounded(made | {"datasets": _used(made)})
    return msgspec.json.encode((spec, picture_of(spec, "light")))


def _explain(spec: dict[str, Any], rows: list[Row], columns: Mapping[str, str]) -> None:
    """Add a tooltip and text for screen readers to every layer that draws the chart's rows.

    Altair would copy both at every step of drawing.
    """
    said = {
        "tooltip": [{"field": name, "title": title} for name, title in columns.items()],
        "description": {"value": {"expr": spoken(rows, columns)}},
    }
    for layer in spec["layer"]:
        first, *_ = spec["datasets"][layer.get("data", spec.get("data"))["name"]]
        if columns.keys() <= first.keys():
            layer["encoding"] |= said


def spoken(rows: list[Row], columns: Mapping[str, str]) -> str:
    """A Vega expression for a mark's screen-reader text: each value after its column's heading."""
    parts = []
    for name, title in columns.items():
        known = [row[name] for row in rows if row.get(name) is not None]
        number = bool(known) and all(isinstance(value, int | float) for value in known)
        words = f"format(datum.{name}, '.3~r')" if number else f"datum.{name}"
        parts.append(f"(isValid(datum.{name}) ? '{title}: ' + {words} + '; ' : '')")
    return " + ".join(parts)


def picture_of(spec: Mapping[str, Any], scheme: Literal["light", "dark"]) -> str:
    """Render a specification as SVG, rounded to 0.1 px and without text for screen readers."""
    static = orjson.dumps({**spec, "width": STATIC_WIDTH_PX, "config": CONFIGS[scheme]})
    svg = SPOKEN.sub("", vl_convert.vegalite_to_svg(static.decode()))
    return TAG.sub(
        lambda tag: LONG_NUMBER.sub(lambda number: f"{float(number[0]):.1f}", tag[0]), svg
    )


def _used(spec: Mapping[str, Any]) -> Mapping[str, list[Row]]:
    """A specification's data without the columns that only the caption and the table need."""
    marks = str({key: value for key, value in spec.items() if key != "datasets"})
    named = set(WORD.findall(marks))
    return {
        name: [{key: row[key] for key in row if key in named} for row in rows]
        for name, rows in spec["datasets"].items()
    }


def as_rows(found: pl.DataFrame) -> list[Row]:
    """Rows as a chart needs them: NaN and infinity become `None`, and dates become strings."""
    figures = cs.float()
    return found.with_columns(
        pl.when(figures.is_finite()).then(figures),
        cs.temporal().cast(pl.String),
    ).to_dicts()


def rounded(value: Any) -> Any:  # noqa: ANN401 - a specification is JSON of any shape
    """Round all numbers in a specification to four significant digits, for a file on the site.

    Figures are rounded only once: if 1.31503 were first rounded to 1.315, it would be printed as
    1.31, next to 1.32 in a caption.
    """
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value


def _takeaway(name: str, definition: Definition, rows: list[Row]) -> str:
    """The findings and, if the table has intervals, what these intervals predict."""
    text = definition.caption or captions.CAPTIONS[name](rows)
    known = any(row.get("interval_low") is not None for row in rows)
    shown = known and "interval_low" in definition.columns
    return f"{text} Intervals: 95 %, {definition.interval}." if shown else text


def _alt(definition: Definition, rows: list[Row]) -> str:
    text = definition.alt.replace("{interval}", definition.interval)
    for noun, column in definition.counts.items():
        number = len({row[column] for row in rows}) if column else len(rows)
        text = text.replace(f"{{{noun}s}}", say.count(number, noun))
    return text
