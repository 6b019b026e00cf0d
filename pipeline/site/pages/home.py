"""Does it help? The home page with the map, and the finished maps that its switch can show."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from pipeline.site.pages.cells import Cell, Headline, MethodSquare, Overview, Square
from pipeline.site.pages.environment import environment, render, task
from pipeline.site.pages.map import NARROW, WIDE, Choice, Drawing, choices, draw, opening, sizes_of
from pipeline.site.pages.model import Asset, Page, Site, relative
from pipeline.site.pages.rows import read
from schemas.vocabulary import say

NEWEST = 8
MEASURED = "measured"


def home(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The home page and one file per choice of task and method."""
    headline = next(row for row in read(connection, Headline, "headline") if row.tier == MEASURED)
    if not headline.cells:
        yield render("home.md.jinja", path="index.md", site=site, headline=headline)
        return
    squares = [row for row in read(connection, Square, "map_cell") if row.tier == MEASURED]
    single = [row for row in read(connection, MethodSquare, "map_method") if row.tier == MEASURED]
    listed = tuple(choices(squares, single))
    sizes = sizes_of(squares)
    first = opening(listed)
    newest = read(connection, Overview, "newest")
    cells = read(connection, Cell, "cell")
    worst, best = extremes(cells)
    yield render(
        "home.md.jinja",
        path="index.md",
        site=site,
        headline=headline,
        best=best,
        worst=worst,
        top=highest(cells),
        opening=first,
        tasks=tuple(dict.fromkeys(choice.task for choice in listed)),
        methods=tuple(dict.fromkeys((choice.method, choice.label) for choice in listed)),
        drawings=_drawings(first, sizes),
        caption=caption(first),
        newest=newest[:NEWEST],
        example=newest[0].device_label,
    )
    for choice in listed:
        yield _choice_file(choice, sizes)


def extremes(cells: tuple[Cell, ...]) -> tuple[Cell | None, Cell | None]:
    """The slowest and the fastest cell of a single task, of those whose whole interval is clear.

    A record that its own interval does not support is no record.
    """
    single = [cell for cell in cells if cell.tier == MEASURED and cell.task_name]
    losing = [cell for cell in single if cell.verdict == "hurts"]
    helping = [cell for cell in single if cell.verdict == "helps"]
    return (
        min(losing, key=_rank, default=None),
        max(helping, key=_rank, default=None),
    )


def highest(cells: tuple[Cell, ...]) -> Cell | None:
    """The cell of a single task with the highest figure, whether its interval is clear or not."""
    single = [cell for cell in cells if cell.tier == MEASURED and cell.task_name and cell.speedup]
    return max(single, key=_rank, default=None)


def _rank(cell: Cell) -> tuple[float, str]:
    return (cell.speedup or 0.0, cell.cell)


def caption(choice: Choice) -> str:
    """One sentence about what a map shows."""
    measured = [square for square in choice.squares if square.speedup is not None]
    words = task(choice.task)
    place = "" if choice.method == "all" else f" with {choice.label}"
    if not measured:
        return f"{words}{place}: nothing has been measured yet."
    helps = sum(square.verdict == "helps" for square in measured)
    cells = sum(square.cells for square in choice.squares)
    losing = sum(square.losing_cells for square in choice.squares)
    top = max(measured, key=lambda square: square.speedup or 0)
    squares = say.count(len(measured), "measured square")
    found = (
        f"some configuration clearly helps in {helps} of {squares}; the highest figure"
        if helps
        else f"no configuration clearly helps in {squares}; the highest figure, no clear gain,"
    )
    return (
        f"{words}{place}: {found} is {say.times(top.speedup)} on {top.device_label}."
        f" Of {say.count(cells, 'configuration')} behind {'it' if len(measured) == 1 else 'them'},"
        f" {losing} clearly {'loses' if losing == 1 else 'lose'}."
    )


def _choice_file(choice: Choice, sizes: tuple[tuple[int, str], ...]) -> Asset:
    """The finished map of one choice, with links as seen from the home page."""
    text = (
        environment()
        .get_template("map_choice.html.jinja")
        .render(
            drawings=_drawings(choice, sizes),
            caption=caption(choice),
            choice=choice,
            url=lambda address: relative("", address),
        )
    )
    return Asset(path=f"assets/map/{choice.key}.html", data=text.encode())


def _drawings(choice: Choice, sizes: tuple[tuple[int, str], ...]) -> tuple[Drawing, ...]:
    return tuple(draw(choice.squares, sizes, layout) for layout in (WIDE, NARROW))
