"""The pages that `pages.toml` describes."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

import duckdb
from markupsafe import Markup

from pipeline.site import rows
from pipeline.site.charts import definitions
from pipeline.site.pages import model
from pipeline.site.pages.environment import environment, figure, render
from pipeline.site.pages.places import drawn
from pipeline.site.rows import Row

# Kinds of cells that are set to the right, and their headings too.
FIGURES = {
    *("tally", "whole", "number", "one_decimal", "decimal", "percent", "ms", "gb", "ratio"),
    *("signed", "change", "speedup", "median", "side", "advised", "error"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """One entry of `pages.toml`, which says what its words are for."""

    name: str
    path: str
    title: str
    description: str
    rows: str
    template: str = "overview.md.jinja"
    chart: str | None = None
    charts: tuple[str, ...] = ()
    lede: str = ""
    between: str = ""
    heading: str = ""
    table: str = ""
    filter: str = ""
    columns: tuple[tuple[str, ...], ...] = ()
    note: str = ""
    unlisted: str = ""  # shown when the filter leaves no row
    axis: str = ""  # of the published series below: `published_series.sql`
    after: str = ""
    empty: str = ""
    how: str = ""
    command: str = ""


def overviews(connection: duckdb.DuckDBPyConnection, site: model.Site) -> Iterator[model.Page]:
    text = (resources.files("pipeline.site") / "pages.toml").read_text("utf-8")
    for name, entry in tomllib.loads(text).items():
        yield _page(connection, site, Overview(name=name, **entry))


def _page(connection: duckdb.DuckDBPyConnection, site: model.Site, page: Overview) -> model.Page:
    found = rows.read(connection, page.rows)
    printed = _printed(connection, page, found)
    here = model.address_of(page.path)

    def filled(prose: str) -> Markup:
        """Prose with its figures filled in."""
        made = environment().from_string(prose)
        return Markup(made.render(rows=found, url=lambda address: model.relative(here, address)))  # noqa: S704 - our own prose, its values escaped

    own, foreign = _figures(connection, site, page)
    figures = (*own, *foreign)
    return render(
        page.template,
        path=page.path,
        site=site,
        figures=figures,
        foreign=foreign,
        tiers={
            *(row.tier for row in found if hasattr(row, "tier")),
            *(["imported"] if foreign else []),
            *(["published"] if printed else []),
        },
        filled=filled,
        numeric=FIGURES,
        columns=tuple(
            (heading, kind, column)
            for heading, kind, column, *needed in page.columns
            if all(found and getattr(found[0], each) for each in needed)
        ),
        page=page,
        rows=found,
        printed=printed,
        credits=[row for row in rows.read(connection, "credits") if row.counted],
    )


def _figures(
    connection: duckdb.DuckDBPyConnection, site: model.Site, page: Overview
) -> tuple[tuple[model.Figure, ...], tuple[model.Figure, ...]]:
    """The charts of a page, and those of them that imported figures have, too."""
    charts = [name for name in (page.chart, *page.charts) if name is not None]
    foreign = [(name, definitions()[name].foreign) for name in charts]
    return (
        tuple(figure(connection, site, name) for name in charts),
        drawn(*(figure(connection, site, name, **given) for name, given in foreign if given)),
    )


def _printed(
    connection: duckdb.DuckDBPyConnection, page: Overview, found: tuple[Row, ...]
) -> tuple[Row, ...]:
    """The published figures on a page: a table of their own, or those behind its published rows."""
    if page.axis:
        return rows.read(connection, "published_series", axis=page.axis)
    tasks = {row.task for row in found if getattr(row, "tier", None) == "published"}
    listed = rows.read(connection, "published_pairs") if tasks else ()
    return tuple(row for row in listed if row.speedup and (row.task or "own") in tasks)
