"""Does a build with a cache say the same as one without, whatever is in the cache?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bench.copies import multiply
from pipeline.cli import app
from pipeline.collection.discover import discover
from pipeline.data import facts
from pipeline.data.aggregate import view_queries
from pipeline.data.database import open_database
from pipeline.data.facts import derive_share, version

if TYPE_CHECKING:
    import duckdb

RESULTS = Path(__file__).parents[2] / "results"
NAMES = sorted(path.name for path in (RESULTS / "community").iterdir())


@pytest.fixture(scope="module")
def cold() -> dict[str, list[tuple[object, ...]]]:
    return _tables(RESULTS)


def _tables(results: Path, **options: object) -> dict[str, list[tuple[object, ...]]]:
    with open_database(results, **options) as connection:  # type: ignore[arg-type]  # as given
        return {name: _rows(connection, name) for name in view_queries()}


def _rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[object, ...]]:
    return connection.table(name).fetchall()


def test_a_warm_build_has_the_tables_of_a_cold_one(
    cold: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    first = _tables(RESULTS, cache=tmp_path)
    second = _tables(RESULTS, cache=tmp_path)

    assert first == cold
    assert second == cold


def test_one_new_file_adds_one_row_to_the_cache(tmp_path: Path) -> None:
    results, cache = tmp_path / "results", tmp_path / "cache"
    shutil.copytree(RESULTS, results, ignore=shutil.ignore_patterns(NAMES[0]))
    _tables(results, cache=cache)
    before = set(_partitions(cache))
    shutil.copy(RESULTS / "community" / NAMES[0], results / "community")

    _tables(results, cache=cache)

    (added,) = set(_partitions(cache)) - before
    assert pq.read_table(added, columns=["file"])["file"].to_pylist() == [NAMES[0]]


def test_shares_of_several_machines_make_one_cache(
    cold: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    """Each machine derives its own share; together they leave nothing to derive."""
    counts = []
    for share in (1, 2, 3):
        own = tmp_path / str(share)
        counts.append(derive_share(own, discover(RESULTS), share=share, shares=3, jobs=1)[0])
        shutil.copytree(own, tmp_path / "all", dirs_exist_ok=True)
    stored = _partitions(tmp_path / "all")

    found = _tables(RESULTS, cache=tmp_path / "all")

    assert sum(counts) == len(NAMES)
    assert found == cold
    assert _partitions(tmp_path / "all") == stored


def test_several_processes_write_the_bytes_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "PARTITION", len(NAMES) // 2)
    for jobs in (1, 2):
        derive_share(tmp_path / str(jobs), discover(RESULTS), share=1, shares=1, jobs=jobs)

    one, two = ({p.name: p.read_bytes() for p in _partitions(tmp_path / n)} for n in "12")
    assert len(one) >= 2
    assert one == two


def test_a_partition_that_cannot_be_read_is_derived_again(
    cold: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    _tables(RESULTS, cache=tmp_path)
    (partition,) = _partitions(tmp_path)
    partition.write_bytes(partition.read_bytes()[:1000])

    assert _tables(RESULTS, cache=tmp_path) == cold


def test_many_small_partitions_become_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One build per new file must not leave a file in the cache for each of them."""
    monkeypatch.setattr(facts, "MOST_SMALL", 2)
    sources = [each for each in discover(RESULTS) if each.kind == "submission"][:4]
    counts = []
    for source in sources:
        facts.gather(tmp_path, [source])
        counts.append(len(_partitions(tmp_path)))

    known, refused = facts.gather(tmp_path, sources)

    assert counts == [1, 2, 3, 2]  # the fourth build put three together and added one
    assert (len(known), refused) == (4, {})


def test_copies_of_facts_stand_for_files_of_other_contributors(tmp_path: Path) -> None:
    """The benchmark of ten thousand files does not derive ten thousand."""
    results, cache = tmp_path / "results", tmp_path / "cache"
    shutil.copytree(RESULTS, results)
    facts.gather(cache, [each for each in discover(results) if each.kind == "submission"])

    files = multiply(results, cache, 2)

    with open_database(results, cache=cache) as connection:
        counted = connection.execute(
            "select count(*), count(*) filter (contributor ~ '-[12]$'),"
            " count(distinct submission.file)"
            " from submission join standing using (submission) where counted"
        ).fetchall()
    assert files == 3 * len(NAMES)
    ((counts, copies, names),) = counted
    assert (counts, copies, names) == (files, 2 * len(NAMES), files)


def test_what_other_code_derived_is_not_read_and_removed(tmp_path: Path) -> None:
    other = tmp_path / "v-0123456789abcdef"
    other.mkdir()
    (other / "old.parquet").write_bytes(b"no table")
    (tmp_path / "mine").mkdir()

    facts.prune(tmp_path)

    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine"]


def test_a_share_that_is_none_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["derive", "--cache", str(tmp_path), "--share", "9/8"])

    assert done.exit_code == 2
    assert "9/8 is not a share" in done.output


def _partitions(cache: Path) -> list[Path]:
    return sorted((cache / version()).glob("*.parquet"))
