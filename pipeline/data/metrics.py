"""What does a column mean? Label, unit and direction, read back from the comments in the database.

A quantity has one name everywhere, so one comment serves every table that carries the column; two
comments on the same name must agree.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import duckdb

from pipeline.data.aggregate import row_meaning, view_queries

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
    comments = {(column, comment) for _, column, _, comment in _catalogue(connection) if comment}
    found: dict[str, Metric] = {}
    for column, comment in sorted(comments):
        if column in found:
            message = f"column {column} has two meanings; give one of them another name"
            raise ValueError(message)
        found[column] = Metric(column=column, **json.loads(comment))
    return found


def views(connection: duckdb.DuckDBPyConnection) -> tuple[View, ...]:
    """The tables that the SQL files create, in their order."""
    catalogue = _catalogue(connection)
    return tuple(
        View(
            name=name,
            row=row_meaning(query),
            columns=tuple((column, kind) for table, column, kind, _ in catalogue if table == name),
        )
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


def _catalogue(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str, str | None]]:
    """Every column of every table: table, column, type, comment."""
    file = resources.files("pipeline.data").joinpath("sql", "catalogue.sql")
    return connection.execute(file.read_text("utf-8")).fetchall()
