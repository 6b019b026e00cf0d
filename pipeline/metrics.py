"""What does a column mean? Label, unit and direction, read back from the comments in the database.

A quantity has one name everywhere, so one comment serves every table that carries the column; two
comments on the same name must agree.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pipeline.aggregate import row_meaning, view_queries

if TYPE_CHECKING:
    import duckdb

Direction = Literal["higher", "lower", "none"]
NUMERIC = ("BIGINT", "DOUBLE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A numeric column: what to call it, in which unit, and which direction is better."""

    column: str
    label: str
    unit: str
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A table for readers: its name, what one row is, and its columns as (name, type)."""

    name: str
    row: str
    columns: tuple[tuple[str, str], ...]


def metrics(connection: duckdb.DuckDBPyConnection) -> dict[str, Metric]:
    """Every commented column by its name. Raises `ValueError` when two comments disagree."""
    rows = connection.execute(
        "select distinct column_name, comment from duckdb_columns()"
        " where comment is not null order by column_name, comment"
    ).fetchall()
    found: dict[str, Metric] = {}
    for column, comment in rows:
        if column in found:
            message = f"column {column} has two meanings; give one of them another name"
            raise ValueError(message)
        found[column] = Metric(column=column, **json.loads(comment))
    return found


def views(connection: duckdb.DuckDBPyConnection) -> tuple[View, ...]:
    """The tables that the SQL files create, in their order."""
    return tuple(
        View(name=name, row=row_meaning(query), columns=_columns(connection, name))
        for name, query in view_queries().items()
    )


def reference(connection: duckdb.DuckDBPyConnection) -> str:
    """The tables as Markdown: name, what one row is, columns with type and unit."""
    known = metrics(connection)
    parts: list[str] = []
    for view in views(connection):
        parts.append(f"## {view.name}\n\n{view.row}\n")
        parts.extend(_line(column, kind, known) for column, kind in view.columns)
        parts.append("")
    return "\n".join(parts)


def _line(column: str, kind: str, known: dict[str, Metric]) -> str:
    metric = known.get(column) if kind in NUMERIC else None
    meaning = f": {metric.label} ({metric.unit})" if metric else ""
    return f"- `{column}` {kind.lower()}{meaning}"


def _columns(connection: duckdb.DuckDBPyConnection, name: str) -> tuple[tuple[str, str], ...]:
    rows = connection.execute(
        "select column_name, data_type from duckdb_columns()"
        " where table_name = $name order by column_index",
        {"name": name},
    ).fetchall()
    return tuple((column, kind) for column, kind in rows)
