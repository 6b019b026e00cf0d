"""The home page with the map, and the finished maps that its switch can show."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import duckdb

from pipeline.site.pages import machine
from pipeline.site.pages.environment import environment, render, with_cards
from pipeline.site.pages.grid import caption, grid
from pipeline.site.pages.map import (
    SHOWN,
    WIDE,
    Drawing,
    MapFilter,
    by_device,
    choices,
    draw,
    opening,
)
from pipeline.site.pages.model import Asset, Page, Site, relative
from pipeline.site.rows import Row, read
from schemas.vocabulary import TASKS, say

NEWEST = 8
ENOUGH_FOR_PERCENT = 100  # settings; of fewer the numbers themselves are printed
TIERS = ("measured", "imported", "published")
# Questions that visitors bring; each link asks one.
TRIES = (
    ("RTX 3090", "27B"),
    ("RTX 5060 Ti", "14B"),
    ("RX 7900 XTX", ""),
    ("M3 Max", "7B"),
    ("12 GB", "14B"),
)
MAP = "Map of the best known speedup by device and model size"


def home(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The home page and one file per choice of task and method."""
    headline = headline_of(connection)
    if not headline.cells:
        yield render(
            "home.md.jinja",
            path="index.md",
            site=site,
            headline=headline,
            machine_path=machine.PATH,
            tries=TRIES,
            machine_tasks=tuple(TASKS),
        )
        return
    listed = map_choices(connection)
    first = opening(listed)
    printed = read(connection, "printed_typical")
    newest = read(connection, "newest")
    yield render(
        "home.md.jinja",
        path="index.md",
        site=site,
        headline=headline,
        tally=tally_of(first.squares),
        printed=printed[0] if printed else None,
        opening=first,
        tasks=tuple(dict.fromkeys(choice.task for choice in listed)),
        methods=tuple(dict.fromkeys((choice.method, choice.label) for choice in listed)),
        sources=read(connection, "sources"),
        grid=grid(first),
        tiers=devices_by_tier(first.squares),
        tries=TRIES,
        shown=SHOWN,
        caption=caption(first),
        newest=newest[:NEWEST],
        machine_path=machine.PATH,
        machine_tasks=tuple(TASKS),
    )
    for choice in listed:
        yield _choice_file(choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How the measured settings behind the squares of a map came out, and on which devices."""

    settings: int
    faster: int
    slower: int
    failed: int
    devices: tuple[str, ...]

    @property
    def unclear(self) -> int:
        """Settings whose interval allows no verdict."""
        return self.settings - self.faster - self.slower - self.failed

    def share(self, settings: int) -> str:
        """So many of all: in per cent only where there are enough for that."""
        if self.settings < ENOUGH_FOR_PERCENT:
            return f"{settings} of {self.settings}"
        return say.percent(settings / self.settings)


def tally_of(squares: Iterable[Row]) -> Tally:
    """The tally of the opening map, so that the tiles next to it agree with its caption."""
    own = [row for row in squares if row.tier == "measured"]
    return Tally(
        settings=sum(row.cells for row in own),
        faster=sum(row.helping_cells for row in own),
        slower=sum(row.losing_cells for row in own),
        failed=sum(row.failed_cells for row in own),
        devices=tuple(sorted({row.device_label for row in own})),
    )


def devices_by_tier(squares: Iterable[Row]) -> dict[str, int]:
    """How many devices of a map have each tier as their best one."""
    ranked = sorted(squares, key=lambda row: TIERS.index(row.tier))
    best = {row.device: row.tier for row in reversed(ranked)}
    counts = Counter(best.values())
    return {tier: counts[tier] for tier in TIERS if counts[tier]}


def headline_of(connection: duckdb.DuckDBPyConnection) -> Row:
    """What all measured evidence says together."""
    return next(row for row in read(connection, "headline") if row.tier == "measured")


def map_choices(connection: duckdb.DuckDBPyConnection) -> tuple[MapFilter, ...]:
    """Every map that the home page can show."""
    return tuple(choices(read(connection, "map_square"), read(connection, "map_claims")))


def drawing(choice: MapFilter) -> Drawing:
    """The map of a choice as a picture for a README."""
    return draw(by_device(choice.squares), WIDE, MAP)


def _choice_file(choice: MapFilter) -> Asset:
    """The finished map of one choice, with links as seen from the home page."""
    page = environment().get_template("map_choice.html.jinja")
    text = page.render(
        grid=grid(choice),
        caption=caption(choice),
        choice=choice,
        url=lambda address: relative("", address),
    )
    return Asset(path=f"assets/map/{choice.key}.html", data=with_cards(text).encode())
