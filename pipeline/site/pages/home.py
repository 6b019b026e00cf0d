"""The home page with the map, and the finished maps that its switch can show."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import duckdb

from pipeline.site.pages import machine
from pipeline.site.pages import map as maps
from pipeline.site.pages.environment import environment, render, with_cards
from pipeline.site.pages.grid import caption, grid
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
    first = maps.opening(listed)
    printed = read(connection, "printed_headline", place="all")
    newest = read(connection, "newest")
    yield render(
        "home.md.jinja",
        path="index.md",
        site=site,
        headline=headline,
        tally=tally_of(first.squares),
        measured_devices=sorted(
            {row.device_label for row in first.squares if row.tier == "measured"}
        ),
        printed=printed[0] if printed else None,
        opening=first,
        tasks=tuple(dict.fromkeys(choice.task for choice in listed)),
        methods=tuple(dict.fromkeys((choice.method, choice.label) for choice in listed)),
        sources=read(connection, "sources"),
        grid=grid(first),
        tiers=devices_by_tier(first.squares),
        tries=TRIES,
        shown=maps.SHOWN,
        caption=caption(first),
        newest=newest[:NEWEST],
        machine_path=machine.PATH,
        machine_tasks=tuple(TASKS),
    )
    for choice in listed:
        yield _choice_file(choice)


def tally_of(squares: Iterable[Row]) -> Mapping[str, str]:
    """How the measured settings behind the squares of a map came out, as its caption has them."""
    own = [row for row in squares if row.tier == "measured"]
    failed, total = sum(row.failed_cells for row in own), sum(row.cells for row in own)
    found = {
        "faster": sum(row.helping_cells for row in own),
        "slower": sum(row.losing_cells for row in own),
    }
    found["unclear"] = total - failed - sum(found.values())
    few = total < ENOUGH_FOR_PERCENT
    return {
        name: f"{number} of {total}" if few else say.percent(number / total)
        for name, number in found.items()
    } | {"failed": str(failed or "")}


def devices_by_tier(squares: Iterable[Row]) -> dict[str, int]:
    """How many devices of a map have each tier as their best one."""
    ranked = sorted(squares, key=lambda row: TIERS.index(row.tier))
    best = {row.device: row.tier for row in reversed(ranked)}
    counts = Counter(best.values())
    return {tier: counts[tier] for tier in TIERS if counts[tier]}


def headline_of(connection: duckdb.DuckDBPyConnection) -> Row:
    return next(row for row in read(connection, "headline") if row.tier == "measured")


def map_choices(connection: duckdb.DuckDBPyConnection) -> tuple[maps.MapFilter, ...]:
    return tuple(maps.choices(read(connection, "map_square"), read(connection, "map_claims")))


def drawing(choice: maps.MapFilter) -> maps.Drawing:
    return maps.draw(maps.by_device(choice.squares), maps.WIDE, MAP)


def _choice_file(choice: maps.MapFilter) -> Asset:
    """The finished map of one choice, with links as seen from the home page."""
    page = environment().get_template("map_choice.html.jinja")
    text = page.render(
        grid=grid(choice),
        caption=caption(choice),
        choice=choice,
        url=lambda address: relative("", address),
    )
    return Asset(path=f"assets/map/{choice.key}.html", data=with_cards(text).encode())
