"""Serve the raw files of submissions: all or, in a large collection, those measured first."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb

from pipeline.collection.discover import discover
from pipeline.site.pages.model import Site, file_path

# In a larger collection, submissions have short forms, and the site has this many raw files. They
# are the first, because their addresses existed before the collection grew.
MOST_FULL = 200


def is_large(connection: duckdb.DuckDBPyConnection, most_full: int = MOST_FULL) -> bool:
    return len(connection.table("submission")) > most_full


def outside(
    connection: duckdb.DuckDBPyConnection, results: Path, repository: str | None
) -> Mapping[str, str]:
    """Links to the raw files that only the repository has, by the address the site would use.

    The result is empty if the site has all raw files itself, because the collection is small or the
    repository is unknown.
    """
    if repository is None or not is_large(connection):
        return {}
    first = connection.table("submission").order("measured_until, submission").limit(MOST_FULL)
    own = {name for (name,) in first.select("submission").fetchall()}
    return {
        file_path(source.path.name): f"{repository}/blob/HEAD/results/{path.as_posix()}"
        for source in discover(results)
        if source.kind == "submission" and source.path.stem not in own
        for path in (source.path.relative_to(results),)
    }


def raw_files(results: Path, extra: tuple[Path, ...], site: Site) -> Iterator[tuple[str, Path]]:
    """The raw files that the site serves itself, with their paths on the site."""
    for source in discover(results, extra):
        path = file_path(source.path.name)
        if source.kind == "submission" and path not in site.outside:
            yield path, source.path
