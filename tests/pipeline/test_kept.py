"""Does a build take from its cache what is still true, and nothing else?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipeline.data import export
from pipeline.site.kept import kept, remembered
from pipeline.site.pages.model import Asset, Site, device_path
from pipeline.site.pages.places import device_pages
from pipeline.site.pages.submissions import submission_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import duckdb

    Texts = dict[str, str]

SITE = Site(bundle="vega.js", address="https://x.example/")


@pytest.fixture
def changed(full: duckdb.DuckDBPyConnection) -> Iterator[Callable[[str], None]]:
    """Change a table until the test ends."""
    full.begin()
    yield lambda statement: full.execute(statement) and None
    full.rollback()


def devices(connection: duckdb.DuckDBPyConnection) -> Texts:
    return {page.path: page.text for page in device_pages(connection, SITE)}


def leaves(connection: duckdb.DuckDBPyConnection) -> Texts:
    """The short forms of a collection that counts as large from two submissions on."""
    parts = submission_pages(connection, SITE, most_pages=1)
    return {part.path: part.data.decode() for part in parts if isinstance(part, Asset)}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def differing(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    return {path for path in before if before[path] != after[path]}


def tables_of_devices(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Each table with rows of devices, and a figure in it."""
    return connection.execute(
        """select table_name, min(column_name) from duckdb_columns()
        where data_type = 'DOUBLE'
          and table_name in (select table_name from duckdb_columns() where column_name = 'device')
        group by table_name order by table_name"""
    ).fetchall()


def test_the_page_of_a_device_is_made_again_when_a_figure_on_it_changes(
    full: duckdb.DuckDBPyConnection, tmp_path: Path, changed: Callable[[str], None]
) -> None:
    with remembered(tmp_path):
        before = devices(full)
        again = devices(full)
        (name,) = full.table("cell").order("cell").select("device").fetchall()[0]
        changed(f"update cell set speedup = 7.77 where device = '{name}'")  # noqa: S608
        after = devices(full)
        for table, column in tables_of_devices(full):
            changed(f"update {table} set {column} = 1.2345")  # noqa: S608
        last = devices(full)

    assert again == before
    assert differing(before, after) == {device_path(name)}
    assert "7.77" in after[device_path(name)]
    assert last == devices(full)


def test_a_short_form_is_made_again_when_a_row_of_its_submission_changes(
    full: duckdb.DuckDBPyConnection, tmp_path: Path, changed: Callable[[str], None]
) -> None:
    with remembered(tmp_path):
        before = leaves(full)
        again = leaves(full)
        (name,) = full.table("estimate").order("submission").select("submission").fetchall()[0]
        changed(f"update estimate set speedup = 7.77 where submission = '{name}'")  # noqa: S608
        after = leaves(full)

    assert again == before
    assert after == leaves(full)
    assert {path.split("/")[1] for path in differing(before, after)} == {name}


def test_exports_are_those_without_a_cache_when_some_of_their_rows_change(
    full: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    changed: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "PIECE", 8)
    made: list[object] = []

    def counted(make: Callable[[], bytes], values: object) -> bytes:
        def noted() -> bytes:
            made.append(values)
            return make()

        return kept(noted, values)

    with remembered(tmp_path / "kept"):
        export.export(full, tmp_path / "before", kept=counted)
        first = len(made)
        (page,) = full.table("multiplier").aggregate("min(page)").fetchall()[0]
        changed(f"update multiplier set speedup = 7.77 where page = '{page}'")  # noqa: S608
        export.export(full, tmp_path / "after", kept=counted)
    export.export(full, tmp_path / "fresh")

    assert files(tmp_path / "after") == files(tmp_path / "fresh")
    assert differing(files(tmp_path / "before"), files(tmp_path / "after")) == {
        *("multipliers.csv", "multipliers.json", "multipliers.parquet"),
        *(export.PACKAGE, export.SUMS),
    }
    assert 0 < len(made) - first < first / 2


def test_what_was_cut_short_is_made_again_and_what_nobody_asked_for_is_removed(
    tmp_path: Path,
) -> None:
    with remembered(tmp_path):
        kept(lambda: b"one", 1)
        kept(lambda: b"two", 2)
    whole = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path, data in whole.items():
        path.write_bytes(data[:-1])

    with remembered(tmp_path):
        found = kept(lambda: b"one, made again", 1)

    assert len(whole) == 2
    assert found == b"one, made again"
    assert len(list(tmp_path.iterdir())) == 1
