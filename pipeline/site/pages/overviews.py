"""Write the pages that need only queries, one chart at most, and a template."""

from collections.abc import Iterator, Mapping, Sequence

import duckdb

from pipeline.site.charts import draw
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import read

# The queries or tables of each page, which its template uses by name.
PAGES: Mapping[str, Sequence[str]] = {
    "builds": ("build_lines", "acceptance_step"),
    "contribute": ("wanted_campaigns", "contributors"),
}
CHARTS = {"builds": "builds"}


def overviews(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    for name, queries in PAGES.items():
        yield render(
            f"{name}.md.jinja",
            path=f"{name}.md",
            site=site,
            figures=(draw(connection, CHARTS[name], site.cache),) if name in CHARTS else (),
            **{each: read(connection, each) for each in queries},
        )
