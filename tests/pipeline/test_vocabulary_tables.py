"""Verdicts, names and orders in SQL follow the vocabulary."""

from collections.abc import Iterator

import duckdb
import pytest

from tests.pipeline.tables import database, one, rows


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = database()
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ("1.0201", "1.1", "helps"),
        ("1.02", "1.1", "no-clear-difference"),
        ("0.9", "0.9799", "hurts"),
        ("0.9", "0.98", "no-clear-difference"),
        ("0.5", "2.0", "no-clear-difference"),
        ("null", "1.5", "too-few-prompts"),
        # A third of the half-width: (1.5 / 1.07) ^ (1 / 6) = 1.0579, and with 1.05 it is 1.0612.
        ("1.07", "1.5", "helps"),
        ("1.05", "1.5", "no-clear-difference"),
    ],
)
def test_the_whole_interval_of_a_cell_must_exclude_one_by_a_margin(
    empty: duckdb.DuckDBPyConnection, low: str, high: str, verdict: str
) -> None:
    query = f"select verdict_of({low}::double, {high}::double, null::double, null::double)"

    assert one(empty, query) == (verdict,)


def test_a_gain_per_token_with_slower_whole_requests_is_slower_in_all(
    empty: duckdb.DuckDBPyConnection,
) -> None:
    query = "select verdict_of(1.1, 1.2, {}::double, {}::double)"

    assert one(empty, query.format(0.5, 0.6)) == ("slower-in-all",)
    assert one(empty, query.format(0.9, 1.1)) == ("helps",)
    assert one(empty, query.format("null", "null")) == ("helps",)


@pytest.mark.parametrize(
    ("parameters", "size_class", "order"),
    [
        ("null", "unknown size", 6),
        ("999999999", "<1B", 0),
        ("1000000000", "1–3B", 1),  # noqa: RUF001 - en dash
        ("39999999999", "16–40B", 4),  # noqa: RUF001 - en dash
        ("40000000000", ">40B", 5),
    ],
)
def test_a_size_class_begins_at_its_lower_bound(
    empty: duckdb.DuckDBPyConnection, parameters: str, size_class: str, order: int
) -> None:
    query = f"select size_class({parameters}::bigint), size_order({parameters}::bigint)"

    assert one(empty, query) == (size_class, order)


def test_methods_and_tasks_have_printed_names(
    empty: duckdb.DuckDBPyConnection,
) -> None:
    words = "speculation_label('ngram-map-k'), task_label('json'), task_label('all')"
    verdicts = "verdict_label('never-drafted'), speculation_label('none')"

    assert one(empty, f"select {words}") == ("N-gram map-k", "Structured JSON", "All tasks")
    assert one(empty, f"select {verdicts}") == ("never drafted", None)


def test_tasks_are_ordered_with_all_of_them_first(empty: duckdb.DuckDBPyConnection) -> None:
    query = """
        select task from (values ('other'), ('math'), ('all'), ('code')) as asked (task)
        order by task_order(task)
    """

    assert rows(empty, query) == [("all",), ("code",), ("math",), ("other",)]


def test_the_usual_engine_is_not_part_of_an_address(empty: duckdb.DuckDBPyConnection) -> None:
    assert one(empty, "select other_engine('llama.cpp in-process')") == (None,)
    assert one(empty, "select other_engine('vLLM')") == ("vLLM",)
