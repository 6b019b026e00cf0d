"""Tables have the types of the schema, state what a row is, and are consistent."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import msgspec
import pytest

from estimates.model import Summary
from pipeline.data import aggregate as aggregation
from pipeline.data.column_meanings import metrics
from pipeline.data.load import schema_structure
from pipeline.errors import CheckFailedError
from tests.pipeline.tables import campaign, columns_of, database, one, whole_database

SQL = Path(aggregation.__file__).parent / "sql"
VIEWS = aggregation.view_queries()


def test_every_sql_file_has_its_own_number() -> None:
    numbers = [path.name[:3] for path in SQL.glob("[0-9]*.sql")]

    assert len(numbers) == len(set(numbers)) == len(VIEWS) > 50


def test_a_structure_follows_references_and_tagged_variants() -> None:
    schema = {
        "properties": {
            "at": {"$ref": "#/$defs/utc"},
            "kind": {"enum": ["a", "b"]},
            "version": {"const": 1},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
        },
        "$defs": {
            "utc": {"type": "string", "format": "date-time"},
            "part": {
                "properties": {"type": {"enum": ["x"]}},
                "allOf": [{"if": {}, "then": {"$ref": "#/$defs/x"}}],
            },
            "x": {"properties": {"type": {"const": "x"}, "depth": {"type": "integer"}}},
        },
    }

    assert schema_structure(schema) == {
        "at": "TIMESTAMP",
        "kind": "VARCHAR",
        "version": "BIGINT",
        "parts": [{"type": "VARCHAR", "depth": "BIGINT"}],
    }


def test_results_have_the_types_of_their_dataclasses() -> None:
    structure = schema_structure(msgspec.json.schema(Summary))

    assert isinstance(structure, dict)
    (estimate,) = structure["estimates"]
    assert estimate["task"] == "VARCHAR"
    assert estimate["prompts"] == "BIGINT"
    assert estimate["interval"] == {"low": "DOUBLE", "high": "DOUBLE"}


def test_an_empty_corpus_has_the_tables_of_a_full_one(
    empty: duckdb.DuckDBPyConnection, full: duckdb.DuckDBPyConnection
) -> None:
    assert columns_of(empty) == columns_of(full)


def test_without_results_only_the_wanted_list_has_rows(
    empty: duckdb.DuckDBPyConnection,
) -> None:
    filled = [name for name in VIEWS if empty.table(name).fetchall()]

    assert filled == ["wanted"]


@pytest.mark.parametrize("name", VIEWS)
def test_every_query_says_what_one_row_is(name: str) -> None:
    assert aggregation.row_meaning(name).startswith("One row ")


@pytest.mark.parametrize("name", VIEWS)
def test_a_file_creates_the_table_of_its_name(name: str) -> None:
    assert f"create table {name} as\n" in VIEWS[name]


def test_sql_is_written_in_lower_case() -> None:
    keywords = ("SELECT ", "FROM ", "WHERE ", "JOIN ", "GROUP BY", "ORDER BY")
    shouted = [
        path.name
        for path in SQL.rglob("*.sql")
        if any(keyword in path.read_text("utf-8") for keyword in keywords)
    ]

    assert shouted == []


def test_every_numeric_column_is_a_metric_and_every_metric_a_column(
    full: duckdb.DuckDBPyConnection,
) -> None:
    columns = [column for found in columns_of(full).values() for column in found.items()]
    numeric = {name for name, kind in columns if kind in ("BIGINT", "DOUBLE")}

    assert numeric - metrics().keys() == set()
    assert metrics().keys() - {name for name, _ in columns} == set()


def test_an_absent_field_is_null_and_zero_is_zero() -> None:
    connection = database(campaign(1.0))

    question = "select distinct ttft_ms, drafted from trial where arm = 'baseline'"

    assert one(connection, question) == (None, 0)


def test_no_query_reaches_a_file_after_loading(
    full: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")

    with pytest.raises(duckdb.PermissionException):
        full.execute("select * from read_csv($path)", {"path": str(tmp_path / "secret.csv")})
    with pytest.raises(duckdb.InvalidInputException, match="locked"):
        full.execute("set enable_external_access = true")


def test_published_figures_are_in_no_average(full: duckdb.DuckDBPyConnection) -> None:
    assert one(
        full, "select count(*) from evidence where tier not in ('measured', 'imported')"
    ) == (0,)
    assert one(full, "select max(speedup) < 4 from cell") == (True,)  # articles claim up to 15


BREAKS = {
    "interval_upside_down": "update pool set interval_low = 2, interval_high = 1",
    "lost_evidence": "delete from evidence",
    "lost_figure": "delete from published_view where quantity = 'speedup'",
    "lost_submission": "delete from setup",
    "lost_trial": "delete from trial where running_order = 0",
    "mixed_cell": "update pool_member set tier = 'imported' where contributor = 'bob'",
    "more_votes_than_voters": "update pool set votes = votes + 1",
    "trial_without_task": "update trial set task = null where running_order = 0",
    "uncounted_in_an_aggregate": "update standing set counted = false",
}


@pytest.fixture
def breakable(full: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The full database in a transaction that is rolled back after the test."""
    full.execute("begin transaction")
    yield full
    full.execute("rollback")


def test_every_check_has_an_example_that_breaks_it() -> None:
    assert set(BREAKS) == set(aggregation.check_queries())


@pytest.mark.parametrize("name", BREAKS)
def test_each_check_finds_its_fault(name: str, breakable: duckdb.DuckDBPyConnection) -> None:
    before = aggregation.failed_checks(breakable)
    breakable.execute(BREAKS[name])

    assert before == {}
    assert name in aggregation.failed_checks(breakable)


def test_tables_that_contradict_themselves_stop_the_pipeline() -> None:
    upside_down = campaign(1.0, within=(1.5, 0.5))

    with pytest.raises(CheckFailedError, match="interval_upside_down"):
        whole_database(upside_down)
