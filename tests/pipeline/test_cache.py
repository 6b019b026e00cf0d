"""A build with a cache has the tables of one without, whatever is in the cache."""

import shutil
from pathlib import Path

import duckdb
import pytest
import vl_convert

from pipeline.cache import Cache
from pipeline.collection.discover import discover
from pipeline.data.aggregate import view_queries
from pipeline.data.cached import entries_of
from pipeline.data.database import open_database
from pipeline.site.charts import draw
from tests.pipeline.tables import RESULTS

Tables = dict[str, list[tuple[object, ...]]]


NAMES = sorted(path.name for path in (RESULTS / "community").glob("*.json"))


@pytest.fixture(scope="module")
def cold() -> Tables:
    return tables(RESULTS)


def tables(results: Path, cache: Cache | None = None, jobs: int = 1) -> Tables:
    with open_database(results, cache=cache, jobs=jobs) as connection:
        return {name: connection.table(name).fetchall() for name in view_queries()}


def test_a_warm_build_has_the_tables_of_a_cold_one(cold: Tables, tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    assert tables(RESULTS, cache) == cold
    assert tables(RESULTS, cache) == cold
    assert len(list(tmp_path.iterdir())) == len(NAMES)


def test_one_new_file_adds_one_entry(tmp_path: Path) -> None:
    results, cache = tmp_path / "results", Cache(tmp_path / "cache")
    shutil.copytree(RESULTS, results, ignore=shutil.ignore_patterns(NAMES[0]))
    tables(results, cache)
    before = set((tmp_path / "cache").iterdir())
    shutil.copy(RESULTS / "community" / NAMES[0], results / "community")

    tables(results, cache)

    assert len(set((tmp_path / "cache").iterdir()) - before) == 1


def test_several_processes_cache_the_bytes_of_one(tmp_path: Path) -> None:
    sources = [each for each in discover(RESULTS) if each.kind == "submission"]

    for jobs in (1, 2):
        entries_of(Cache(tmp_path / str(jobs)), sources, jobs=jobs)

    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in "12")
    assert len(sources) > 16  # or one process would do
    assert one == two


@pytest.mark.long
def test_an_entry_that_was_cut_short_is_computed_again(cold: Tables, tmp_path: Path) -> None:
    tables(RESULTS, Cache(tmp_path))
    whole = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path, data in whole.items():
        path.write_bytes(data[:-100])

    assert tables(RESULTS, Cache(tmp_path)) == cold
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == whole


def test_what_a_build_did_not_ask_for_is_removed(tmp_path: Path) -> None:
    earlier = Cache(tmp_path)
    earlier.put("one", b"1")
    earlier.put("two", b"2")

    later = Cache(tmp_path)
    found = later.get("one")
    later.prune()

    assert found == b"1"
    assert (earlier.get("one"), earlier.get("two")) == (b"1", None)


def test_without_a_folder_everything_is_computed() -> None:
    cache = Cache()

    assert [cache.get_or_make("inputs", lambda made=made: made) for made in (b"1", b"2")] == [
        b"1",
        b"2",
    ]


def test_a_chart_is_drawn_once(
    full: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = draw(full, "tasks", Cache(tmp_path))
    monkeypatch.delattr(vl_convert, "vegalite_to_svg")

    assert draw(full, "tasks", Cache(tmp_path)) == first
