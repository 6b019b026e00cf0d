"""Describe the exported files: a Frictionless data package that names every file and column."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import duckdb
import pyarrow as pa

from estimates.model import ESTIMATOR
from pipeline.data.aggregate import row_meaning, view_queries
from schemas.vocabulary.metrics import metrics


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


def _catalogue(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str]]:
    """Every column of every table: table, column, type."""
    file = resources.files("pipeline.data").joinpath("sql", "catalogue.sql")
    return connection.execute(file.read_text("utf-8")).fetchall()


PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
VERSION = "2.0.0"  # raised when a name or a meaning changes
LICENCE = {"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}
MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
# Arrow's names of types by how they begin, to those of the Table Schema.
KINDS = {
    "int": "integer",
    "double": "number",
    "string": "string",
    "bool": "boolean",
    "timestamp": "datetime",
    "date": "date",
    "list": "array",
    "struct": "object",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A file of the package and the table in it; in JSON its rows may lie below a name."""

    path: str
    bytes: int
    sha256: str
    table: str
    columns: pa.Schema
    rows_below: str | None = None


def data_package(resources: Iterable[Resource]) -> dict[str, Any]:
    """The descriptor as a JSON value."""
    meanings = {name: row_meaning(query) for name, query in view_queries().items()}
    return {
        "$schema": PROFILE,
        "name": "draftmap",
        "version": VERSION,
        "estimator": ESTIMATOR,
        "title": "Draftmap: where speculative decoding makes a local LLM faster or slower",
        "licenses": [LICENCE],
        "resources": [_entry(resource, meanings[resource.table]) for resource in resources],
    }


def _entry(resource: Resource, meaning: str) -> dict[str, Any]:
    stem, _, suffix = resource.path.rpartition(".")
    return {
        "name": f"{stem}-{suffix}",
        "path": resource.path,
        "format": suffix,
        "mediatype": MEDIA_TYPES[suffix],
        "bytes": resource.bytes,
        "hash": f"sha256:{resource.sha256}",
        "description": meaning,
        "schema": {"fields": [_field(column) for column in resource.columns]},
    } | ({"dialect": {"property": resource.rows_below}} if resource.rows_below else {})


def _field(column: pa.Field) -> dict[str, str]:
    kind = next(name for start, name in KINDS.items() if str(column.type).startswith(start))
    field = {"name": column.name, "type": kind}
    metric = metrics().get(column.name)
    if kind not in ("integer", "number") or metric is None:  # what counts parts is no metric
        return field
    return field | {"title": metric.label, "unit": metric.unit, "better": metric.direction}
