"""Write a page for each device and each target model."""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

import duckdb

from pipeline.site.charts import Chart, drawn, rows_of
from pipeline.site.pages import model, strips
from pipeline.site.pages.answer_card import Card
from pipeline.site.pages.answer_pages import CardsOfRows
from pipeline.site.pages.template_environment import plain_text, render
from pipeline.site.rows import Row, grouped, read
from pipeline.site.tally import spread, tally, usual
from planner.evidence import PairFigure

Tables: TypeAlias = "dict[str, tuple[Row, ...]]"
Parts: TypeAlias = "dict[str, Mapping[str, tuple[Row, ...]]]"

FEWEST_POINTS = 3


class _Place(NamedTuple):
    """A device or model with its rows: all that its page shows, apart from the charts."""

    kind: str
    name: str
    measured: Row | None
    parts: Mapping[str, tuple[Row, ...]]
    typical: Row | None
    card: Card | None

    @property
    def path(self) -> str:
        return model.path_of(model.ADDRESSES[self.kind](self.name))


def place_pages(
    connection: duckdb.DuckDBPyConnection,
    site: model.Site,
    kinds: Iterable[str] = ("device", "target"),
    names: Container[str] | None = None,
    pairs: Iterable[PairFigure] = (),
) -> Iterator[model.Page]:
    """The pages of devices and models with measured or published figures: all, or those named.

    A page begins with the answer for the pair that most people published.
    """
    tables, cards = _tables(connection), CardsOfRows(pairs, site.cache)
    for kind in kinds:
        yield from _pages(connection, site, kind, tables, cards, names)


def _pages(
    connection: duckdb.DuckDBPyConnection,
    site: model.Site,
    kind: str,
    tables: Tables,
    cards: CardsOfRows,
    only: Container[str] | None,
) -> Iterator[model.Page]:
    parts = _parts(connection, kind, tables)
    measured = {getattr(row, kind): row for row in read(connection, kind)}
    depths = grouped(rows_of(connection, "depths", by=kind), itemgetter("place"))
    for name in sorted(measured.keys() | parts["strips"].keys() | parts["pairs"].keys()):
        if only is not None and name not in only:
            continue
        # A target needs results of its own for the chart, because published depths are few.
        enough = kind == "device" or name in measured
        own = depths[name] if enough and len(depths[name]) >= FEWEST_POINTS else ()
        figures = (drawn("depths", list(own), site.cache, of=(kind, name)),) if own else ()
        shown = {part: rows[name] for part, rows in parts.items()}
        typical = strips.typical(shown["strips"])
        place = _Place(kind, name, measured.get(name), shown, typical, cards.of(typical))
        # A page is rendered again only if its own rows or links have changed.
        files = [site.link_from("")(model.file_path(row.file)) for row in place.parts["newest"]]
        inputs = [site.bundle, site.repository, site.address, place, files, figures]
        text = site.cache.get_or_make(inputs, partial(_text, place, figures, site))
        yield model.Page(path=place.path, text=text.decode(), figures=figures)


def _text(place: _Place, figures: tuple[Chart, ...], site: model.Site) -> bytes:
    page = render(
        f"{place.kind}.md.jinja",
        path=place.path,
        figures=figures,
        slug=place.name,
        site=site,
        typical=place.typical,
        card=place.card,
        **{place.kind: place.measured},
        **_shared(place.kind, dict(place.parts)),
    )
    return page.text.encode()


def _shared(kind: str, shown: dict[str, tuple[Row, ...]]) -> dict[str, Any]:
    """The values that the templates of devices and of targets share."""
    rows = shown.pop("strips")
    figures = strips.figures(rows)
    labelled = next(iter((*rows, *shown["cells"], *shown["newest"], *shown["pairs"])))
    label = getattr(labelled, f"{kind}_label")
    return {
        "title": plain_text(label),
        "label": label,
        "finding": tally(figures, "model" if kind == "device" else "device") if rows else "",
        "spread": spread(figures) if rows else "",
        "usual": usual(figures) if kind == "target" else None,
        "strips": tuple(map(strips.strip, strips.ranked(rows))),
        **shown,
    }


def _tables(connection: duckdb.DuckDBPyConnection) -> Tables:
    """The rows of each table that both kinds of page show.

    Only failures of counted submissions are listed; a withdrawn submission shows its failures on
    its own page.
    """
    return {
        "strips": strips.main_rows(connection),
        "failures": tuple(row for row in read(connection, "failure") if row.counted),
        "newest": read(connection, "newest"),
        "credits": tuple(row for row in read(connection, "credits") if row.counted),
        "pairs": read(connection, "published_pairs"),
        "unchecked": read(connection, "unchecked"),
        # Single tasks have no tables, because a place in a table has only one figure.
        "drafts": tuple(row for row in read(connection, "draft_grid") if not row.task),
    }


def _parts(connection: duckdb.DuckDBPyConnection, kind: str, tables: Tables) -> Parts:
    """The rows of each table on the pages of devices or targets, grouped by device or target."""
    of = attrgetter(kind)
    return {
        "best": grouped(read(connection, "best_settings", kind=kind), of),
        "surest": grouped(read(connection, "surest_gain", kind=kind), attrgetter("scope")),
        "cells": grouped(read(connection, "page_cells", kind=kind), of),
        "accepted": grouped(read(connection, "acceptance") if kind == "target" else (), of),
        **{name: grouped(rows, of) for name, rows in tables.items()},
    }
