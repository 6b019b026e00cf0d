"""Other people's figures are shown with tier and author, and change no measured figure."""

import json
import re
import shutil

import duckdb
import pytest

from pipeline.data.database import open_database
from pipeline.site.pages.template_environment import environment
from pipeline.site.rows import read
from tests.pipeline.tables import campaign, database, known_results, one, real_database, rows

MEASURED = re.compile(r'<tr data-tier="measured">.*?</tr>', re.DOTALL)


@pytest.fixture
def everything() -> duckdb.DuckDBPyConnection:
    return real_database()


@pytest.fixture(scope="module")
def measured_only(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """The same collection without imported and published figures."""
    results = known_results(tmp_path_factory.mktemp("measured"))
    shutil.rmtree(results / "published")
    for path in (results / "community").glob("*.json"):
        if json.loads(path.read_bytes())["tier"] != "measured":
            path.unlink()
    return open_database(results)


def test_lower_tiers_do_not_change_measured_rows(
    everything: duckdb.DuckDBPyConnection, measured_only: duckdb.DuckDBPyConnection
) -> None:
    query = "select table_name from information_schema.columns where column_name = 'tier'"
    tables = [table for (table,) in rows(everything, query)]

    # A strip draws the figures of other tiers beside its own, and which tier a page shows first
    # depends on what there is.
    columns = dict.fromkeys(tables, "*")
    columns |= {"pair": "* exclude (other_dots)", "best": "* exclude (tier_order)"}
    own = {
        table: f"select {columns[table]} from {table} where tier = 'measured'"  # noqa: S608 - names of our own
        for table in tables
    }
    found = {table: rows(everything, query) for table, query in own.items()}

    assert {"cell", "evidence", "pair", "speedup", "vote"} <= set(tables)
    assert all(found[table] for table in ("cell", "evidence", "pair"))
    assert found == {table: rows(measured_only, query) for table, query in own.items()}


def test_every_grid_of_drafts_credits_its_author(
    everything: duckdb.DuckDBPyConnection,
) -> None:
    assert rows(everything, "select distinct author is null from draft_grid") == [(False,)]


def test_the_measured_lines_of_a_page_are_the_same_to_the_byte_without_the_lower_tiers(
    everything: duckdb.DuckDBPyConnection, measured_only: duckdb.DuckDBPyConnection
) -> None:
    cells = environment().get_template("macros.html.jinja").module.cells  # type: ignore[attr-defined]

    def lines(connection: duckdb.DuckDBPyConnection) -> list[str]:
        listed = read(connection, "page_cells", kind="device")
        return MEASURED.findall(str(cells(listed, str, "All cells")))

    alone = lines(measured_only)

    assert len(alone) >= 20  # the most that the page of a device lists
    assert lines(everything) == alone


def test_an_overall_figure_of_a_foreign_suite_is_over_its_own_tasks(
    everything: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        select task, round(speedup, 3) from evidence
        where tier = 'imported' and task in ('own', 'all') and backend = 'cuda'
          and device = 'rtx-5060-ti-16-gb' and method = 'draft-model'
          and target_label like '%14B%'
    """

    assert rows(everything, query) == [("own", 1.237)]


def test_a_figure_over_own_tasks_is_in_no_cell(everything: duckdb.DuckDBPyConnection) -> None:
    assert rows(everything, "select * from cell where task = 'own'") == []
    assert rows(everything, "select * from cell where task = 'all' and tier = 'imported'") == []


def test_every_imported_submission_is_credited_to_a_source_with_a_licence(
    everything: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        select count(*), count(source.licence), list_sort(list(distinct source.author))
        from submission left join source on list_contains(file_digests, origin_sha256)
        where tier = 'imported'
    """

    assert one(everything, query) == (
        10,
        10,
        ["Hugo Moreira", "InventiveHQ and contributors"],
    )


def test_an_import_that_no_source_names_is_anonymous() -> None:
    connection = database(campaign(1.5, tier="imported", contributor=None))

    assert one(connection, "select credited from submission_overview") == ("anonymous",)
