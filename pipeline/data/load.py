"""Load accepted documents into typed DuckDB tables, one nested row per file.

DuckDB reads the text that was validated. The types come from the schema (`columns.py`), so no file
changes the shape of a table and an empty corpus has the same tables as a full one. No query may
read a file or the network afterwards.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

import duckdb
import orjson
import pyarrow as pa

from estimates.identity import Identity, identify
from estimates.model import Summary
from pipeline.data.columns import dataclass_structure, schema_structure
from schemas import validator
from schemas.submission import Submission

TEXT, YES_NO = pa.string(), pa.bool_()
INCOMING_SUBMISSION = pa.schema(
    {
        "submission": TEXT,
        "file": TEXT,
        "preview": YES_NO,
        "document": TEXT,
        "identity": TEXT,
        "summary": TEXT,
    }
)
INCOMING_PUBLISHED = pa.schema({"file": TEXT, "document": TEXT})
INCOMING_LIFECYCLE = INCOMING_PUBLISHED
INCOMING_SOURCES = pa.schema({"document": TEXT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An accepted submission, its text and its summary.

    `preview` marks a file outside the corpus; `id` is unique and fit for an address.
    """

    id: str
    file: str
    preview: bool
    text: str
    submission: Submission
    summary: Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEntry:
    """An accepted published document or lifecycle entry as the text of its file."""

    file: str
    text: str


def load(
    entries: Iterable[Entry],
    published: Iterable[TextEntry],
    lifecycle: Iterable[TextEntry] = (),
    sources: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """A database with a table of documents for each kind of file, one row per file.

    `sources` is the table of sources as JSON.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1})
    submissions = [
        {
            "submission": entry.id,
            "file": entry.file,
            "preview": entry.preview,
            "document": entry.text,
            "identity": orjson.dumps(identify(entry.submission)).decode(),
            "summary": orjson.dumps(entry.summary).decode(),
        }
        for entry in entries
    ]
    texts = [{"file": entry.file, "document": entry.text} for entry in published]
    endings = [{"file": entry.file, "document": entry.text} for entry in lifecycle]
    connection.register(
        "incoming_submission", pa.Table.from_pylist(submissions, INCOMING_SUBMISSION)
    )
    connection.register("incoming_published", pa.Table.from_pylist(texts, INCOMING_PUBLISHED))
    connection.register("incoming_lifecycle", pa.Table.from_pylist(endings, INCOMING_LIFECYCLE))
    noted = [] if sources is None else [{"document": sources}]
    connection.register("incoming_sources", pa.Table.from_pylist(noted, INCOMING_SOURCES))
    _run(
        connection,
        "submission_document",
        document=_structure(validator.SUBMISSION_SCHEMA),
        identity=json.dumps(dataclass_structure(Identity)),
        summary=json.dumps(dataclass_structure(Summary)),
    )
    _run(connection, "published_document", document=_structure(validator.PUBLISHED_SCHEMA))
    _run(connection, "lifecycle_document", document=_structure(validator.LIFECYCLE_SCHEMA))
    _run(connection, "sources_document", document=_structure(validator.SOURCES_SCHEMA))
    for name in ("submission", "published", "lifecycle", "sources"):
        connection.unregister(f"incoming_{name}")
    _run(connection, "closed")
    return connection


def _run(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> None:
    file = resources.files("pipeline.data").joinpath("sql", "load", f"{name}.sql")
    connection.execute(file.read_text("utf-8"), parameters or None)


def _structure(schema: str) -> str:
    return json.dumps(schema_structure(validator.schema(schema)))
