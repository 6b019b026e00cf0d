"""What do all submissions say together? Runs the SQL files in order, then the checks.

A file `NN_name.sql` creates the table `name`; its first comment says what one row is. The one step
that SQL cannot do, intervals over votes, runs right after the table that it reads (`AFTER`).
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from estimates.model import Interval
from pipeline.cells import Vote, pool_intervals
from pipeline.errors import CheckFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb


def aggregate(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every table of `pipeline/sql`. Raises `CheckFailedError` when a check finds rows."""
    connection.execute((resources.files("pipeline") / "sql" / "macros.sql").read_text("utf-8"))
    for name, query in view_queries().items():
        connection.execute(query)
        if name in AFTER:
            AFTER[name](connection)
    failures = failed_checks(connection)
    if failures:
        raise CheckFailedError(failures)


def view_queries() -> dict[str, str]:
    """The SQL files by the name of the table that each creates, in the order of their numbers."""
    return {name.partition("_")[2]: text for name, text in _sql_files("sql") if name[0].isdigit()}


def check_queries() -> dict[str, str]:
    """The queries that must return no rows, by name."""
    return dict(_sql_files("sql", "checks"))


def failed_checks(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The checks that found rows, each with its first row as text."""
    found: dict[str, str] = {}
    for name, query in check_queries().items():
        row = connection.execute(query).fetchone()
        if row is not None:
            found[name] = ", ".join(str(value) for value in row)
    return found


def row_meaning(query: str) -> str:
    """What one row is: the comment lines at the head of a query, as one text."""
    lines: list[str] = []
    for line in query.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


def _sql_files(*folders: str) -> list[tuple[str, str]]:
    folder = resources.files("pipeline").joinpath(*folders)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(name.removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in names]


def _create_pool_interval(connection: duckdb.DuckDBPyConnection) -> None:
    rows = connection.execute(
        "select pool, speedup, interval_low, interval_high from vote order by pool, voter"
    ).fetchall()
    votes = (
        Vote(
            pool=pool,
            speedup=speedup,
            within=None if low is None or high is None else Interval(low=low, high=high),
        )
        for pool, speedup, low, high in rows
    )
    connection.execute(
        "create table pool_interval (pool varchar, interval_low double, interval_high double,"
        " interval_kind varchar)"
    )
    found = [(p.pool, p.interval.low, p.interval.high, p.kind) for p in pool_intervals(votes)]
    if found:
        connection.executemany("insert into pool_interval values (?, ?, ?, ?)", found)


AFTER: Mapping[str, Callable[[duckdb.DuckDBPyConnection], None]] = {"vote": _create_pool_interval}
