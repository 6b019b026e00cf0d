"""Write every page of the site except *How it works*."""

from collections.abc import Iterator

import duckdb

from pipeline.data.export import ExportedFile
from pipeline.site.pages import (
    answer_pages,
    data,
    device_and_model_pages,
    evidence_file,
    explore,
    feeds,
    fits,
    home,
    overviews,
    slower,
    submissions,
    template_environment,
    what_moves_it,
)
from pipeline.site.pages.model import Asset, Page, Site


def pages(
    connection: duckdb.DuckDBPyConnection, site: Site, files: tuple[ExportedFile, ...]
) -> Iterator[Page | Asset]:
    """Yield all generated pages and the files that they load; `files` are the exported data."""
    pairs = tuple(evidence_file.pairs(connection))
    common = answer_pages.common_answers(pairs)
    yield template_environment.vocabulary_file()
    yield template_environment.names_file()
    yield home.home(connection, site, common)
    yield from explore.explore(connection, site)
    yield what_moves_it.moves(connection, site)
    yield from overviews.overviews(connection, site)
    yield from device_and_model_pages.place_pages(connection, site, pairs=pairs)
    yield submissions.index(connection, site)
    yield from submissions.submission_pages(connection, site)
    yield from feeds.feeds(connection, site)
    yield fits.fits(site)
    yield from answer_pages.answers(connection, site, pairs, common)
    yield slower.slower(site)
    yield data.data_page(connection, site, files)
    yield from data.programs(connection, site, files, common)
