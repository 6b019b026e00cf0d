"""How does a chart come about? Query, picture, specification, static SVG, table, words."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import Any

import duckdb
import orjson
import vl_convert

from pipeline.site.charts.model import Chart, Definition, Row, Table
from pipeline.site.charts.registry import CHARTS
from pipeline.site.charts.theme import CONFIGS, STATIC_WIDTH_PX, Scheme
from pipeline.site.charts.words import plain, rounded

_ID = re.compile(r'\bid="([^"]+)"')
_ID_OR_USE = re.compile(r'(\bid="|url\(#|href="#)([^")]+)("|\))')


def draw(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> Chart:
    """The chart of this name. Raises `KeyError` for an unknown name or parameter."""
    definition = CHARTS[name]
    unknown = set(parameters) - set(definition.parameters)
    if unknown:
        raise KeyError(*sorted(unknown))
    rows = _rows(connection, name, definition.parameters | parameters)
    if not rows:
        return _empty(name, definition)
    spec = _spec(definition, rows)
    return Chart(
        name=name,
        title=definition.title,
        spec=spec,
        svg=_svg(spec, "light"),
        svg_dark=_svg(spec, "dark"),
        table=_table(definition, rows),
        takeaway=definition.takeaway(rows),
        alt=definition.alt(rows),
    )


def query(name: str) -> str:
    """The SQL of a chart: its parameters are named in it as `$name`."""
    return (resources.files("pipeline.site") / "charts" / f"{name}.sql").read_text("utf-8")


def _rows(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: dict[str, str]
) -> list[Row]:
    result = connection.execute(query(name), parameters)
    names = [column[0] for column in result.description]
    return [dict(zip(names, values, strict=True)) for values in result.fetchall()]


def _spec(definition: Definition, rows: list[Row]) -> dict[str, Any]:
    """Vega-Lite as wide as its place; the page adds the colours of its scheme as `config`."""
    picture = definition.picture([{key: plain(row[key]) for key in row} for row in rows])
    spec: dict[str, Any] = picture.properties(
        width="container", autosize={"type": "fit-x", "contains": "padding"}
    ).to_dict()
    spec.pop("config", None)
    return {key: rounded(value) for key, value in spec.items()}


def _svg(spec: dict[str, Any], scheme: Scheme) -> str:
    static = orjson.dumps({**spec, "width": STATIC_WIDTH_PX, "config": CONFIGS[scheme]})
    return _with_own_ids(vl_convert.vegalite_to_svg(static.decode()), static)


def _with_own_ids(svg: str, static: bytes) -> str:
    """The picture with ids of its own.

    The renderer counts gradients and clips over all that it has drawn: without this the same chart
    would differ from run to run, and two pictures on one page could name the same id.
    """
    prefix = hashlib.sha256(static).hexdigest()[:8]
    names = dict.fromkeys(_ID.findall(svg))
    own = {name: f"c{prefix}-{number}" for number, name in enumerate(names)}
    return _ID_OR_USE.sub(lambda match: f"{match[1]}{own[match[2]]}{match[3]}", svg)


def _table(definition: Definition, rows: list[Row]) -> Table:
    return Table(
        columns=tuple(definition.columns.values()),
        rows=tuple(tuple(rounded(plain(row[key])) for key in definition.columns) for row in rows),
    )


def _empty(name: str, definition: Definition) -> Chart:
    return Chart(
        name=name,
        title=definition.title,
        spec={},
        svg="",
        svg_dark="",
        table=Table(columns=tuple(definition.columns.values()), rows=()),
        takeaway="Nothing has been measured here yet.",
        alt=f"{definition.title}: no data yet.",
        empty=True,
    )
