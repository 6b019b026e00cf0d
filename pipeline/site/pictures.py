"""Pictures outside the pages: the map and charts for a README, and the cards that links show."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from textwrap import shorten, wrap

import duckdb
import vl_convert

from pipeline.data.database import open_database
from pipeline.errors import UnknownChartError
from pipeline.site.charts import definitions, draw
from pipeline.site.charts.theme import FONT, Scheme
from pipeline.site.pages.environment import environment
from pipeline.site.pages.home import drawing, headline_of, map_choices
from pipeline.site.pages.map import measured, opening, tint
from pipeline.site.pages.model import Asset, Site, device_path, submission_path, target_path
from pipeline.site.pages.short import MOST_PAGES
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import OWN_TASKS, TASKS, VERDICTS, say

MAP = "map"
CARD = "assets/images/card.png"
WIDTH_PX, HEIGHT_PX = 1200, 630  # what services that show a link ask for
LINE, LONG_LINE = 34, 62  # characters of a title and of a note that fit the width
PLACES = {"device": "speculative decoding on", "target": "speculative decoding of"}
TILES = 24  # squares in the card: three rows of eight
STYLES = Path(__file__).resolve().parents[2] / "site_src" / "assets" / "stylesheets"
SCHEMES: dict[Scheme, str] = {"light": "default", "dark": "slate"}
MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
LINK = re.compile(r'<(/?)a\b(?: href="[^"]*")?')


def draw_pictures(names: Sequence[str], *, results: Path, output: Path) -> tuple[Path, ...]:
    """Write `<name>-light.svg` and `<name>-dark.svg` for the map or a chart each; their paths.

    Raises `UnknownChartError` for a name that is no chart, and what `open_database` raises.
    """
    known = (MAP, *definitions())
    for name in names:
        if name not in known:
            raise UnknownChartError(name, known)
    output.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with open_database(results) as connection:
        for name in names:
            for scheme, svg in _pictures(connection, name).items():
                path = output / f"{name}-{scheme}.svg"
                path.write_text(svg, encoding="utf-8")
                written.append(path)
    return tuple(written)


def card(connection: duckdb.DuckDBPyConnection) -> Asset:
    """The picture of a shared link: the shares that gain and lose, and squares of the map."""
    squares = (
        row for row in read(connection, "map_cell") if (row.tier, row.task) == ("measured", "all")
    )
    svg = (
        environment()
        .get_template("card.svg.jinja")
        .render(
            width=WIDTH_PX,
            height=HEIGHT_PX,
            headline=headline_of(connection),
            tiles=[(each.speedup, tint(each.speedup)) for each in measured(squares)][:TILES],
            places=TILES,
        )
    )
    return Asset(path=CARD, data=vl_convert.svg_to_png(svg))


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the card of one page says; `tone` is the tile's of its verdict."""

    kind: str
    title: tuple[str, ...]
    figure: str
    verdict: str
    interval: str
    notes: tuple[str, ...]
    tone: str


def cards(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Asset]:
    """A card for each device, model and submission.

    None where the site's address is unknown: services that show a link want an absolute one.
    """
    if site.address is None:
        return
    template = environment().get_template("card_place.svg.jinja")
    few = len(read(connection, "standing")) <= MOST_PAGES  # short pages name no card
    for page, drawn in (*_places(connection), *(_submissions(connection) if few else ())):
        svg = template.render(width=WIDTH_PX, height=HEIGHT_PX, card=drawn)
        yield Asset(path=card_path(page), data=vl_convert.svg_to_png(svg))


def card_path(page: str) -> str:
    """Where the card of a page lies; `theme/main.html` names the same."""
    return f"assets/cards/{page.removesuffix('.md')}.png"


def _places(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Card]]:
    """Devices and models, with their best setting; a device may have published figures only."""
    tallied = set()
    for place, path in (("device", device_path), ("target", target_path)):
        best = grouped(read(connection, "best_settings", place=place), attrgetter(place))
        for row in read(connection, f"{place}_tally"):
            name, label = getattr(row, place), getattr(row, f"{place}_label")
            tallied.add(name)
            tally = f"helps in {row.helps}, hurts in {row.hurts} of {say.count(row.cells, 'cell')}"
            notes = (f"{tally} measured",) if row.cells else ()
            top = max(best[name], key=_clearest, default=None)
            other = top and (top.target_label if place == "device" else top.device_label)
            yield path(name), _card(PLACES[place], label, top, other, notes)
    printed = grouped(read(connection, "published_pairs"), attrgetter("device"))
    for name, pairs in printed.items():
        if name not in tallied:
            top = max(pairs, key=attrgetter("speedup"))
            method = f"{top.method_label}, {top.target_label} {top.quantisation or ''}"
            by = f"by {top.contributor or top.author}"
            card = _card(PLACES["device"], top.device_label, None, None, (method, by))
            figure = say.times(top.speedup)
            yield (
                device_path(name),
                replace(card, figure=figure, verdict="published", interval="not measured here"),
            )


def _clearest(row: Row) -> tuple[bool, float]:
    """Of the best settings the one whose lower bound is highest, and measured before imported."""
    return row.tier == "measured", row.interval_low or 0.0


def _submissions(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Card]]:
    for row in read(connection, "submission_overview"):
        found = row if row.best_speedup is not None else None
        card = Card(
            kind=f"a result, {row.tier}",
            title=_title(f"{row.target_label} {row.quantisation} on {row.device_label}"),
            figure=say.times(row.best_speedup),
            verdict=VERDICTS[row.best_verdict].label if found else "no speedup over all tasks",
            interval=_interval(row.best_interval_low, row.best_interval_high),
            notes=(_cut(row.best_method_label or ""), f"through {row.backend}"),
            tone=VERDICTS[row.best_verdict].tile if found else "flat",
        )
        yield submission_path(row.submission), card


def _card(
    kind: str, label: str, top: Row | None, other: str | None, notes: tuple[str, ...]
) -> Card:
    if top is None:
        return Card(
            kind=kind,
            title=_title(label),
            figure="",
            verdict="",
            interval="",
            notes=tuple(map(_cut, notes)),
            tone="flat",
        )
    depth = f" at depth {top.depth}" if top.depth else ""
    task = TASKS[top.task].label if top.task in TASKS else OWN_TASKS
    return Card(
        kind=kind,
        title=_title(label),
        figure=say.times(top.speedup),
        verdict=VERDICTS[top.verdict].label,
        interval=f"{_interval(top.interval_low, top.interval_high)} {top.tier}",
        notes=tuple(
            map(_cut, (f"{top.method_label}{depth}, {task}", f"{other} {top.quantisation}", *notes))
        ),
        tone=VERDICTS[top.verdict].tile,
    )


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else say.interval(low, high)


def _title(label: str) -> tuple[str, ...]:
    """At most two lines that fit the card."""
    return tuple(wrap(label, LINE, max_lines=2, placeholder=" …"))


def _cut(text: str) -> str:
    return shorten(text, LONG_LINE, placeholder=" …")


def _pictures(connection: duckdb.DuckDBPyConnection, name: str) -> dict[Scheme, str]:
    if name != MAP:
        chart = draw(connection, name)
        return {"light": chart.svg, "dark": chart.svg_dark}
    wide = drawing(opening(map_choices(connection)))
    svg = getattr(environment().get_template("map.html.jinja").make_module(), "svg")  # noqa: B009 - macros are not in the type
    drawn = LINK.sub(r"<\1g", str(svg(wide, str)).strip())  # links lead nowhere from a README
    head, _, rest = drawn.partition(">")
    return {scheme: f"{head}>\n<style>{map_style(scheme)}</style>{rest}\n" for scheme in SCHEMES}


def map_style(scheme: Scheme) -> str:
    """The rules of the site's style sheets that draw a map on a page of this scheme."""
    sheets = "".join(
        MEDIA.sub("", (STYLES / name).read_text("utf-8")) for name in ("draftmap.css", "map.css")
    )
    rules = [(selector.strip(), body) for selector, body in RULE.findall(sheets)]
    colours = "".join(
        body
        for selector, body in rules
        if selector == f'[data-md-color-scheme="{SCHEMES[scheme]}"]'
    )
    shapes = "".join(
        f"{selector} {{{body}}}\n"
        for selector, body in rules
        if selector.startswith(".dm-map") and "narrow" not in selector and "-plot" not in selector
    )
    return f".dm-map {{{colours} --md-text-font-family: {FONT};\n}}\n{shapes}"
