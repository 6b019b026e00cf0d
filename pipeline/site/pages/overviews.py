"""The pages that `pages.toml` describes: a lede, a chart, a table and prose around them."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

import duckdb
from markupsafe import Markup

from pipeline.site import rows
from pipeline.site.pages.environment import environment, figure, render
from pipeline.site.pages.model import Page, Site, address_of, relative

# Kinds of cells that are set to the right, and their headings too.
FIGURES = {
    *("whole", "number", "one_decimal", "decimal", "percent", "ms", "gb", "ratio", "signed"),
    *("speedup", "median", "side", "advised", "error"),
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
    lede: str = ""
    between: str = ""
    heading: str = ""
    table: str = ""
    filter: str = ""
    columns: tuple[tuple[str, ...], ...] = ()
    note: str = ""
    after: str = ""
    empty: str = ""
    how: str = ""
    command: str = ""


def overviews(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """Every page of `pages.toml`."""
    text = (resources.files("pipeline.site") / "pages.toml").read_text("utf-8")
    for name, entry in tomllib.loads(text).items():
        yield _page(connection, site, Overview(name=name, **entry))


def _page(connection: duckdb.DuckDBPyConnection, site: Site, page: Overview) -> Page:
    found = rows.read(connection, page.rows)
    here = address_of(page.path)

    def filled(prose: str) -> Markup:
        """Prose with its figures filled in."""
        made = environment().from_string(prose)
        return Markup(made.render(rows=found, url=lambda address: relative(here, address)))  # noqa: S704 - our own prose, its values escaped

    return render(
        page.template,
        path=page.path,
        site=site,
        figures=(figure(connection, page.chart),) if page.chart else (),
        page=page,
        rows=found,
        filled=filled,
        numeric=FIGURES,
        columns=tuple(
            (heading, kind, column)
            for heading, kind, column, *needed in page.columns
            if all(found and getattr(found[0], each) for each in needed)
        ),
    )
