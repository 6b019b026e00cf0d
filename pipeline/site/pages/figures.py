"""How does a page get a chart? By name and words; its files are named after both."""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb

from pipeline.site.charts import draw
from pipeline.site.pages.model import Asset, Figure

FOLDER = "assets/charts"


def figure(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> Figure:
    """A chart of `pipeline.site.charts` for a page."""
    key = "--".join([name.replace("_", "-"), *parameters.values()])
    return Figure(key=key, chart=draw(connection, name, **parameters))


def chart_files(figures: tuple[Figure, ...]) -> Iterator[Asset]:
    """The specification and the two pictures of every chart that has something to show."""
    for each in figures:
        if each.chart.empty:
            continue
        spec = json.dumps(each.chart.spec, ensure_ascii=False, sort_keys=True)
        yield Asset(path=f"{FOLDER}/{each.key}.json", data=spec.encode())
        yield Asset(path=f"{FOLDER}/{each.key}.light.svg", data=each.chart.svg.encode())
        yield Asset(path=f"{FOLDER}/{each.key}.dark.svg", data=each.chart.svg_dark.encode())
