"""Builds with any cache and without one have the same tables."""

import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import vl_convert

from pipeline.cache import Cache
from pipeline.collection.discover import discover
from pipeline.data.aggregate import own_queries, view_queries
from pipeline.data.cached import entries_of
from pipeline.data.database import open_database
from pipeline.site.charts import draw
from pipeline.site.pages import device_and_model_pages
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.model import Page, Site
from tests.first_results import FIRST
from tests.pipeline.tables import RESULTS

Tables = dict[str, list[tuple[object, ...]]]


# More than one process reads at a time.
NAMES = [path.name for path in FIRST[:18]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few results of the collection, and a file of published figures."""
    folder = tmp_path_factory.mktemp("results")
    for part, names in ("community", NAMES), ("published", ["arc-b70.json"]):
        (folder / part).mkdir()
        for name in names:
            shutil.copy(RESULTS / part / name, folder / part)
    return folder


@pytest.fixture(scope="module")
def cold(results: Path) -> Tables:
    return tables(results)


def tables(results: Path, cache: Cache | None = None, jobs: int = 1) -> Tables:
    with open_database(results, cache=cache, jobs=jobs) as connection:
        found = {name: connection.table(name).fetchall() for name in view_queries()}
    # Rows that each need one submission are kept in the order in which the files came.
    own = {name: sorted(found[name], key=repr) for name in own_queries()}
    own["loaded"] = [(name, trials) for name, _, trials in own["loaded"]]
    return found | own


def test_a_warm_build_has_the_tables_of_a_cold_one(
    results: Path, cold: Tables, tmp_path: Path
) -> None:
    cache = Cache(tmp_path)

    assert tables(results, cache) == cold
    assert tables(results, cache) == cold
    assert len(list(tmp_path.iterdir())) == 2 * len(NAMES) + 2  # the published file, tables


def test_new_and_removed_files_give_the_tables_of_a_cold_build(
    results: Path, cold: Tables, tmp_path: Path
) -> None:
    changing, cache = tmp_path / "results", Cache(tmp_path / "cache")
    shutil.copytree(results, changing, ignore=shutil.ignore_patterns(NAMES[0]))
    fewer = tables(changing, cache)
    before = set((tmp_path / "cache").iterdir())
    shutil.copy(results / "community" / NAMES[0], changing / "community")

    assert tables(changing, cache) == cold
    # What is compared, what is loaded, and the tables.
    assert len(set((tmp_path / "cache").iterdir()) - before) == 3
    cache.prune()
    (changing / "community" / NAMES[0]).unlink()
    assert tables(changing, cache) == fewer


@pytest.mark.nightly
def test_several_processes_cache_the_bytes_of_one(results: Path, tmp_path: Path) -> None:
    sources = [each for each in discover(results) if each.kind == "submission"]

    for jobs in (1, 2):
        entries_of(Cache(tmp_path / str(jobs)), sources, jobs=jobs)

    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in "12")
    assert len(sources) > 16  # or one process would do
    assert one == two


@pytest.mark.nightly
@pytest.mark.long
def test_an_entry_that_was_cut_short_is_computed_again(
    results: Path, cold: Tables, tmp_path: Path
) -> None:
    tables(results, Cache(tmp_path))
    whole = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path, data in whole.items():
        path.write_bytes(data[:-100])

    assert tables(results, Cache(tmp_path)) == cold
    assert all(path.read_bytes() == whole[path] for path in tmp_path.glob("*.zlib"))


def test_cache_entries_that_a_build_did_not_read_are_removed(tmp_path: Path) -> None:
    earlier = Cache(tmp_path)
    earlier.put("one", b"1")
    earlier.put("two", b"2")

    later = Cache(tmp_path)
    found = later.get("one")
    later.prune()

    assert found == b"1"
    assert (earlier.get("one"), earlier.get("two")) == (b"1", None)


def test_without_a_cache_folder_everything_is_computed() -> None:
    cache = Cache()

    assert [cache.get_or_make("inputs", lambda made=made: made) for made in (b"1", b"2")] == [
        b"1",
        b"2",
    ]


@pytest.mark.nightly
def test_a_chart_is_drawn_once(
    full: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = draw(full, "tasks", Cache(tmp_path))
    monkeypatch.delattr(vl_convert, "vegalite_to_svg")

    assert draw(full, "tasks", Cache(tmp_path)) == first


def test_a_page_is_rendered_again_only_if_its_rows_or_links_change(
    full: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(bundle="vega.js", cache=Cache(tmp_path))
    first = list(place_pages(full, site, ["device"]))

    monkeypatch.setattr(
        device_and_model_pages, "render", lambda _, path, **_more: Page(path=path, text="new")
    )
    again = list(place_pages(full, site, ["device"]))
    moved = list(place_pages(full, replace(site, repository="https://x.org/y"), ["device"]))
    full.execute("begin; update newest set flags = 9")
    changed = list(place_pages(full, site, ["device"]))
    full.execute("rollback")

    assert again == first
    assert {page.text for page in moved} == {"new"}
    measured = {page.path for page, old in zip(changed, first, strict=True) if page != old}
    assert 0 < len(measured) < len(first)
