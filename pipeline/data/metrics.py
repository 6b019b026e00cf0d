"""The tables of the database for readers: what a row is, and what each column means."""

from dataclasses import dataclass
from importlib import resources

import duckdb

from pipeline.data.aggregate import row_meaning, view_queries
from schemas.vocabulary import metrics

NUMERIC = ("BIGINT", "DOUBLE")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A table for readers: its name, what one row is, and its columns as (name, type)."""

    name: str
    row: str
    columns: tuple[tuple[str, str], ...]


def views(connection: duckdb.DuckDBPyConnection) -> tuple[View, ...]:
    """The tables that the SQL files create, in their order."""
    catalogue = _catalogue(connection)
    return tuple(
        View(
            name=name,
            row=row_meaning(query),
            columns=tuple((column, kind) for table, column, kind in catalogue if table == name),
        )
        for name, query in view_queries().items()
    )


def reference(connection: duckdb.DuckDBPyConnection) -> str:
    """The tables as Markdown: name, what one row is, columns with type and unit."""
    parts: list[str] = []
    for view in views(connection):
        parts.append(f"## {view.name}\n\n{view.row}\n")
        parts.extend(_line(column, kind) for column, kind in view.columns)
        parts.append("")
    return "\n".join(parts)


def _line(column: str, kind: str) -> str:
    metric = metrics().get(column) if kind in NUMERIC else None
    meaning = f": {metric.label} ({metric.unit})" if metric else ""
    return f"- `{column}` {kind.lower()}{meaning}"


def _catalogue(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str]]:
    """Every column of every table: table, column, type."""
    file = resources.files("pipeline.data").joinpath("sql", "catalogue.sql")
    return connection.execute(file.read_text("utf-8")).fetchall()
