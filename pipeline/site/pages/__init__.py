"""Which pages does the site have? Everything but the prose that is written by hand."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from pipeline.data.export import ExportedFile
from pipeline.site.pages.advisor import advisor
from pipeline.site.pages.builds import engine_builds
from pipeline.site.pages.contribute import contribute
from pipeline.site.pages.coverage import coverage
from pipeline.site.pages.data import data_page
from pipeline.site.pages.dimensions import dimension_pages
from pipeline.site.pages.environment import vocabulary_file
from pipeline.site.pages.explore import explore
from pipeline.site.pages.feeds import feeds
from pipeline.site.pages.format_reference import format_reference
from pipeline.site.pages.home import home
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.overviews import break_even, tasks
from pipeline.site.pages.places import device_pages, target_pages
from pipeline.site.pages.predictions import predictions
from pipeline.site.pages.published import published
from pipeline.site.pages.submissions import submission_pages
from pipeline.site.pages.what_if import what_if

__all__ = ["Asset", "Page", "Site", "pages"]


def pages(
    connection: duckdb.DuckDBPyConnection, site: Site, files: tuple[ExportedFile, ...]
) -> Iterator[Page | Asset]:
    """Every generated page, and the files that belong to one; `files` are the exported data."""
    yield vocabulary_file()
    yield from home(connection, site)
    yield from explore(connection, site)
    yield tasks(connection, site)
    yield break_even(connection, site)
    yield from dimension_pages(connection, site)
    yield from device_pages(connection, site)
    yield from target_pages(connection, site)
    yield from submission_pages(connection, site)
    yield from advisor(connection, site)
    yield predictions(connection, site)
    yield coverage(connection, site)
    yield engine_builds(connection, site)
    yield from feeds(connection, site)
    yield what_if(site)
    yield published(connection, site)
    yield data_page(connection, site, files)
    yield contribute(connection, site)
    yield format_reference(site)
