"""What is a chart? A specification, static pictures, a table and the words that go with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import altair as alt

Value: TypeAlias = "str | float | int | bool | None"
Row: TypeAlias = "dict[str, Any]"  # one row of a query: names to what DuckDB returned
Tier = Literal["measured", "imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The figures behind a chart: column headings and rows, for `<table>` and CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in every form that a page needs.

    `spec` is Vega-Lite with `width: "container"`, to be themed by the page. `svg` and `svg_dark`
    are static, of fixed size, on a transparent ground, for a light and a dark page. `takeaway` is
    one sentence about what the figures say; `alt` says what is drawn. An `empty` chart has no
    rows: show its takeaway instead of a picture.
    """

    name: str
    title: str
    spec: dict[str, Any]  # Vega-Lite is JSON of any shape
    svg: str
    svg_dark: str
    table: Table
    takeaway: str
    alt: str
    empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """How a chart is made: bound parameters with their defaults, and functions of the rows."""

    title: str
    parameters: dict[str, str]
    picture: Callable[[list[Row]], alt.TopLevelMixin]
    columns: dict[str, str]  # result column to table heading
    takeaway: Callable[[list[Row]], str]
    alt: Callable[[list[Row]], str]
