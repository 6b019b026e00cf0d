"""Published figures: a page of all sources, and a page of the rows of each source."""

from collections.abc import Iterator
from operator import attrgetter

import duckdb

from pipeline.site.pages.environment import figure, plain, render
from pipeline.site.pages.model import Page, Site, path_of, published_address
from pipeline.site.rows import grouped, read
from schemas.validator import PUBLISHED_SCHEMA, schema

UNITS = {"_tps": " tokens/s", "_gb_s": "", "_gb": "", "_mib": "", "_usd": "", "_c": ""}
WORDS = {"vram": "GPU memory", "gpu": "GPU", "kv": "KV", "min": "least", "max": "most"}


def published(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """The page of published figures, and every row of each source as it was printed."""
    figures = read(connection, "published_figure")
    used = {each.quantity for each in figures}
    meanings = schema(PUBLISHED_SCHEMA)["$defs"]["quantity_meanings"]["anyOf"]
    sources = grouped(read(connection, "published_rows"), attrgetter("source"))
    compared = {row.source for rows in sources.values() for row in rows if row.cells}
    credited = {row.source: row for row in read(connection, "source")}
    printed = grouped(figures, lambda each: f"{each.source}/{each.row_id}")
    for source, rows in sources.items():
        yield render(
            "published_source.md.jinja",
            path=path_of(published_address(source)),
            site=site,
            title=plain(rows[0].source_title),
            source=source,
            rows=rows,
            credited=credited[source],
            compares=source in compared,
            printed=printed,
            in_words=in_words,
        )
    yield render(
        "published.md.jinja",
        path="published.md",
        site=site,
        figures=tuple(
            figure(connection, site, "published_bars", source=source) for source in sources
        ),
        sources=sources,
        credited=credited,
        compared=compared,
        count_printed=len(figures),
        quantities=[each for each in meanings if each["const"] in used],
        in_words=in_words,
    )


def in_words(quantity: str) -> str:
    """A quantity's name in words; its unit is printed with the figure."""
    if quantity == "n_max":
        return "depth"
    for suffix, unit in UNITS.items():
        if quantity.endswith(suffix):
            quantity = quantity.removesuffix(suffix) + unit
            break
    return " ".join(WORDS.get(word, word) for word in quantity.split("_"))
