"""The home page with the map, and the finished maps that its switch can show."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb

from pipeline.site.pages import machine
from pipeline.site.pages.environment import environment, render, task, with_cards
from pipeline.site.pages.map import (
    NARROW,
    WIDE,
    Choice,
    Drawing,
    by_device,
    choices,
    draw,
    measured,
    opening,
)
from pipeline.site.pages.model import Asset, Page, Site, relative
from pipeline.site.rows import Row, read
from schemas.vocabulary import TASKS, say

NEWEST = 8
# What the form "My machine" needs.
MACHINE: dict[str, Any] = {"machine_path": machine.PATH, "machine_tasks": tuple(TASKS)}
MAP = "Map of the best known speedup by device and model size"


def home(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The home page and one file per choice of task and method."""
    headline = headline_of(connection)
    if not headline.cells:
        yield render("home.md.jinja", path="index.md", site=site, headline=headline, **MACHINE)
        return
    listed = map_choices(connection)
    first = opening(listed)
    newest = read(connection, "newest")
    (extremes,) = read(connection, "extreme_cells")
    yield render(
        "home.md.jinja",
        path="index.md",
        site=site,
        headline=headline,
        best=extremes.best,
        worst=extremes.worst,
        top=extremes.top,
        opening=first,
        tasks=tuple(dict.fromkeys(choice.task for choice in listed)),
        methods=tuple(dict.fromkeys((choice.method, choice.label) for choice in listed)),
        drawings=drawings(first),
        caption=caption(first),
        newest=newest[:NEWEST],
        **MACHINE,
    )
    for choice in listed:
        yield _choice_file(choice)


def headline_of(connection: duckdb.DuckDBPyConnection) -> Row:
    """What all measured evidence says together."""
    return next(row for row in read(connection, "headline") if row.tier == "measured")


def map_choices(connection: duckdb.DuckDBPyConnection) -> tuple[Choice, ...]:
    """Every map that the home page can show."""
    return tuple(choices(read(connection, "map_square")))


def drawings(choice: Choice) -> tuple[Drawing, ...]:
    """The map of a choice for wide and for narrow screens."""
    lines = by_device(choice.squares)
    return tuple(draw(lines, layout, MAP) for layout in (WIDE, NARROW))


def caption(choice: Choice) -> str:
    """One sentence about what a map shows."""
    others = Counter(square.tier for square in choice.squares if square.tier != "measured")
    also = "".join(f" {say.count(n, f'{tier} square')}." for tier, n in sorted(others.items()))
    own = [square for square in choice.squares if square.tier == "measured"]
    squares = measured(own)
    words = task(choice.task)
    place = "" if choice.method == "all" else f" with {choice.label}"
    if not squares:
        return f"{words}{place}: nothing has been measured yet.{also}"
    helps = sum(square.verdict == "helps" for square in squares)
    cells = sum(square.cells for square in own)
    losing = sum(square.losing_cells for square in own)
    top = max(squares, key=lambda square: square.speedup)
    number = say.count(len(squares), "measured square")
    found = (
        f"some configuration clearly helps in {helps} of {number}; the highest figure"
        if helps
        else f"no configuration clearly helps in {number}; the highest figure, no clear gain,"
    )
    return (
        f"{words}{place}: {found} is {say.times(top.speedup)} on {top.device_label}."
        f" Of {say.count(cells, 'configuration')} behind {'it' if len(squares) == 1 else 'them'},"
        f" {losing} clearly {'loses' if losing == 1 else 'lose'}.{also}"
    )


def _choice_file(choice: Choice) -> Asset:
    """The finished map of one choice, with links as seen from the home page."""
    text = (
        environment()
        .get_template("map_choice.html.jinja")
        .render(
            drawings=drawings(choice),
            caption=caption(choice),
            choice=choice,
            url=lambda address: relative("", address),
        )
    )
    return Asset(path=f"assets/map/{choice.key}.html", data=with_cards(text).encode())
