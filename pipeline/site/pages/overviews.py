"""Write the pages that `pages.toml` describes."""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
from markupsafe import Markup

from pipeline.site import rows
from pipeline.site.charts import draw
from pipeline.site.pages import model
from pipeline.site.pages.template_environment import environment, render
from schemas.vocabulary.documents import document

# Kinds of cells that are right-aligned, together with their headings.
FIGURES = {"whole", "ratio", "rate", "request", "speedup", "change"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """One entry in `pages.toml`; that file explains the fields."""

    name: str
    path: str
    title: str
    description: str
    rows: str
    template: str
    chart: str | None = None
    lede: str = ""
    table: str = ""
    more: str = ""  # a second query for the template
    filter: str = ""
    columns: tuple[tuple[str, ...], ...] = ()


def overviews(connection: duckdb.DuckDBPyConnection, site: model.Site) -> Iterator[model.Page]:
    for name, entry in document("pages", "pipeline.site").items():
        yield _page(connection, site, Overview(name=name, **entry))


def _page(connection: duckdb.DuckDBPyConnection, site: model.Site, page: Overview) -> model.Page:
    found = rows.read(connection, page.rows)
    here = model.address_of(page.path)

    def filled(prose: str) -> Markup:
        made = environment().from_string(prose)
        return Markup(made.render(rows=found, url=lambda address: model.relative(here, address)))  # noqa: S704 - our own prose, its values escaped

    figures = (draw(connection, page.chart, site.cache),) if page.chart else ()
    return render(
        page.template,
        path=page.path,
        site=site,
        figures=figures,
        filled=filled,
        numeric=FIGURES,
        columns=tuple(
            (heading, kind, column)
            for heading, kind, column, *needed in page.columns
            if all(found and getattr(found[0], each) for each in needed)
        ),
        page=page,
        rows=found,
        more=rows.read(connection, page.more) if page.more else (),
    )
