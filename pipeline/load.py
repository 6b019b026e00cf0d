"""How do accepted documents become typed tables? One nested row per file; SQL takes it from there.

The types come from the schema (`columns.py`), so no file changes the shape of a table and an empty
corpus has the same tables as a full one. No query may reach a file or the network afterwards.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from estimates.model import Summary
from pipeline.columns import dataclass_structure, schema_structure
from schemas import contract
from schemas.canonical import canonical_bytes
from schemas.codec import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.columns import Structure
    from schemas.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An accepted submission with its summary; `preview` marks a file outside the corpus."""

    file: str
    preview: bool
    submission: Submission
    summary: Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedEntry:
    """An accepted published document as the text of its file."""

    file: str
    text: str


def load(
    entries: Iterable[Entry], published: Iterable[PublishedEntry]
) -> duckdb.DuckDBPyConnection:
    """A database in memory with `submission_document` and `published_document`, one row per file."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("set enable_external_access = false")
    connection.execute("set autoload_known_extensions = false")
    _create_submission_document(connection, entries)
    _create_published_document(connection, published)
    return connection


def _create_submission_document(
    connection: duckdb.DuckDBPyConnection, entries: Iterable[Entry]
) -> None:
    connection.execute(
        "create temporary table incoming"
        " (file varchar, preview boolean, document varchar, summary varchar)"
    )
    for entry in entries:
        row = [entry.file, entry.preview, _json(entry.submission), _json(entry.summary)]
        connection.execute("insert into incoming values (?, ?, ?, ?)", row)
    connection.execute(
        "create table submission_document as select file, preview,"
        " from_json(document, $document) as document, from_json(summary, $summary) as summary"
        " from incoming order by file",
        {
            "document": _structure(contract.SUBMISSION_SCHEMA),
            "summary": json.dumps(dataclass_structure(Summary)),
        },
    )
    connection.execute("drop table incoming")


def _create_published_document(
    connection: duckdb.DuckDBPyConnection, published: Iterable[PublishedEntry]
) -> None:
    connection.execute("create temporary table incoming (file varchar, document varchar)")
    for entry in published:
        connection.execute("insert into incoming values (?, ?)", [entry.file, entry.text])
    connection.execute(
        "create table published_document as"
        " select file, from_json(document, $document) as document from incoming order by file",
        {"document": _structure(contract.PUBLISHED_SCHEMA)},
    )
    connection.execute("drop table incoming")


def _structure(schema_name: str) -> str:
    structure: Structure = schema_structure(contract.schema(schema_name))
    return json.dumps(structure)


def _json(value: Submission | Summary) -> str:
    return canonical_bytes(encode(value)).decode()
