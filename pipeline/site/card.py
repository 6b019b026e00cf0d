"""What does a link to the site look like elsewhere? One picture, drawn from the headline."""

from __future__ import annotations

import duckdb
import vl_convert

from pipeline.site.pages.cells import Headline, Square
from pipeline.site.pages.environment import environment
from pipeline.site.pages.map import tint
from pipeline.site.pages.model import Asset
from pipeline.site.pages.rows import read

PATH = "assets/images/card.png"
WIDTH_PX, HEIGHT_PX = 1200, 630  # what services that show a link ask for
TILES = 24  # squares in the picture: four rows of six


def card(connection: duckdb.DuckDBPyConnection) -> Asset:
    """The picture: the shares that gain and lose, and the map's squares, losses among them."""
    headline = next(row for row in read(connection, Headline, "headline") if row.tier == "measured")
    squares = [
        square.speedup
        for square in read(connection, Square, "map_cell")
        if square.tier == "measured" and square.task == "all" and square.speedup is not None
    ]
    svg = (
        environment()
        .get_template("card.svg.jinja")
        .render(
            width=WIDTH_PX,
            height=HEIGHT_PX,
            headline=headline,
            tiles=tuple((speedup, float(tint(speedup).rstrip("%")) / 100) for speedup in squares)[
                :TILES
            ],
            places=TILES,
        )
    )
    return Asset(path=PATH, data=vl_convert.svg_to_png(svg))
