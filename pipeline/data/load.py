"""Load accepted documents into typed DuckDB tables, one nested row per file.

DuckDB reads the text that was validated. The types come from the schema, so no file
changes the shape of a table and an empty corpus has the same tables as a full one. No query may
read a file or the network afterwards.
"""

import dataclasses
import json
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import duckdb
import orjson
import pyarrow as pa

from estimates.identity import Identity, identify
from estimates.model import Summary
from schemas import validator
from schemas.submission import Submission

Structure: TypeAlias = "str | list[Structure] | dict[str, Structure]"
Schema: TypeAlias = "Mapping[str, Any]"  # a JSON schema is JSON of any shape

LEAVES = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
FORMATS = {"date-time": "TIMESTAMP", "date": "DATE"}
PYTHON_LEAVES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def schema_structure(schema: Schema) -> Structure:
    """The structure of the documents that a JSON Schema describes."""
    return _structure(schema, schema.get("$defs", {}))


def dataclass_structure(cls: type) -> Structure:
    """The structure of a frozen dataclass as JSON."""
    return {name: _hint_structure(hint) for name, hint in get_type_hints(cls).items()}


def _structure(schema: Schema, defs: Schema) -> Structure:
    node = _resolved(schema, defs)
    properties = _properties(node, defs)
    if properties:
        return {name: _structure(child, defs) for name, child in properties.items()}
    if node.get("type") == "array":
        return [_structure(node["items"], defs)]
    return _leaf(node)


def _resolved(schema: Schema, defs: Schema) -> Schema:
    """The schema with its reference followed; keys next to `$ref` win."""
    if "$ref" not in schema:
        return schema
    target: Schema = {"$defs": defs}
    for part in schema["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**_resolved(target, defs), **{k: v for k, v in schema.items() if k != "$ref"}}


def _properties(node: Schema, defs: Schema) -> dict[str, Schema]:
    """The properties of an object, those of its tagged variants (`allOf … then $ref`) included."""
    properties = dict(node.get("properties", {}))
    variants = (branch.get("then", {}) for branch in node.get("allOf", ()))
    for variant in variants:
        if "$ref" in variant:
            properties |= {
                name: child
                for name, child in _resolved(variant, defs)["properties"].items()
                if name not in properties
            }
    return properties


def _leaf(node: Schema) -> str:
    if node.get("format") in FORMATS:
        return FORMATS[node["format"]]
    if "type" in node:
        return LEAVES[node["type"]]
    value = node["const"] if "const" in node else node["enum"][0]
    return PYTHON_LEAVES[type(value)]


def _hint_structure(hint: Any) -> Structure:  # noqa: ANN401 - a type hint is any object
    origin = get_origin(hint)
    if origin is Literal:
        return PYTHON_LEAVES[type(get_args(hint)[0])]
    if origin is tuple:
        return [_hint_structure(get_args(hint)[0])]
    if origin in (Union, types.UnionType):
        (member,) = (each for each in get_args(hint) if each is not types.NoneType)
        return _hint_structure(member)
    if dataclasses.is_dataclass(hint):
        return dataclass_structure(hint)  # type: ignore[arg-type]  # a hint is a class
    return PYTHON_LEAVES[hint]


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
WANTED = pa.schema({"key": TEXT, "filename": TEXT})
CHANGED = pa.schema({"key": TEXT, "summary": TEXT})
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
class Stored:
    """Submissions in Parquet partitions: where the row of each key lies.

    `changed` holds the summaries that the rest of the corpus changed.
    """

    files: Mapping[str, Path]
    changed: Mapping[str, Summary]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEntry:
    """An accepted published document or lifecycle entry as the text of its file."""

    file: str
    text: str


MOST_MEMORY = "800MiB"  # of tables; what a step needs beyond it and Python's own come on top


def connect() -> duckdb.DuckDBPyConnection:
    """An empty database in memory; what does not fit goes to a folder that no other one has."""
    spilled = Path(gettempdir(), f"draftmap-tables-{token_hex(8)}")  # made when it is needed
    return duckdb.connect(
        ":memory:",
        config={"threads": 1, "temp_directory": str(spilled), "memory_limit": MOST_MEMORY},
    )


def load(
    submissions: Iterable[Entry] | Stored,
    published: Iterable[TextEntry],
    lifecycle: Iterable[TextEntry] = (),
    sources: str | None = None,
    *,
    optimised: bool = True,
) -> duckdb.DuckDBPyConnection:
    """A database with a table of documents for each kind of file, one row per file.

    Submissions come as entries or from partitions; `sources` is the table of sources as JSON.
    Over a few rows a plan that is not `optimised` is the faster one.
    """
    connection = connect()
    if not optimised:
        connection.execute("pragma disable_optimizer")
    texts = [{"file": entry.file, "document": entry.text} for entry in published]
    endings = [{"file": entry.file, "document": entry.text} for entry in lifecycle]
    incoming = {
        "published": (texts, INCOMING_PUBLISHED),
        "lifecycle": (endings, INCOMING_LIFECYCLE),
        "sources": ([] if sources is None else [{"document": sources}], INCOMING_SOURCES),
    }
    for name, (rows, shape) in incoming.items():
        connection.register(f"incoming_{name}", pa.Table.from_pylist(rows, shape))
    if isinstance(submissions, Stored):
        _load_stored(connection, submissions)
    else:
        _load_entries(connection, submissions)
    _run(connection, "published_document", document=_structure_load(validator.PUBLISHED_SCHEMA))
    _run(connection, "lifecycle_document", document=_structure_load(validator.LIFECYCLE_SCHEMA))
    _run(connection, "sources_document", document=_structure_load(validator.SOURCES_SCHEMA))
    for name in incoming:
        connection.unregister(f"incoming_{name}")
    _run(connection, "closed")
    return connection


def typed(entries: Iterable[Entry]) -> pa.Table:
    """The rows of `submission_document` for these entries, in the order of their names."""
    with connect() as connection:
        _load_entries(connection, entries)
        return connection.table("submission_document").to_arrow_table()


def _load_entries(connection: duckdb.DuckDBPyConnection, entries: Iterable[Entry]) -> None:
    rows = pa.Table.from_pylist(list(map(_submission_row, entries)), INCOMING_SUBMISSION)
    connection.register("incoming_submission", rows)
    document = json.loads(_structure_load(validator.SUBMISSION_SCHEMA))
    trials = {"trials": document.pop("trials")}
    _run(
        connection,
        "submission_document",
        document=json.dumps(document),
        trials=json.dumps(trials),
        identity=json.dumps(dataclass_structure(Identity)),
        summary=json.dumps(dataclass_structure(Summary)),
    )
    connection.unregister("incoming_submission")
    connection.execute(
        "create view trials_document as select submission, trials from submission_document"
    )


def _load_stored(connection: duckdb.DuckDBPyConnection, stored: Stored) -> None:
    wanted = [{"key": key, "filename": str(path)} for key, path in stored.files.items()]
    if not wanted:
        _load_entries(connection, ())
        return
    changed = [
        {"key": key, "summary": orjson.dumps(summary).decode()}
        for key, summary in stored.changed.items()
    ]
    connection.register("incoming_wanted", pa.Table.from_pylist(wanted, WANTED))
    connection.register("incoming_changed", pa.Table.from_pylist(changed, CHANGED))
    parts = sorted({row["filename"] for row in wanted})
    connection.execute("set allowed_paths = ?", [parts])
    connection.read_parquet(parts, filename=True).create_view("incoming_stored")
    _run(connection, "stored_document", summary=json.dumps(dataclass_structure(Summary)))
    connection.unregister("incoming_changed")
    connection.execute(
        "create view trials_document as select submission, trials"
        " from incoming_stored join incoming_wanted using (key, filename)"
    )


def _submission_row(entry: Entry) -> dict[str, object]:
    return {
        "submission": entry.id,
        "file": entry.file,
        "preview": entry.preview,
        "document": entry.text,
        "identity": orjson.dumps(identify(entry.submission)).decode(),
        "summary": orjson.dumps(entry.summary).decode(),
    }


def _run(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> None:
    file = resources.files("pipeline.data").joinpath("sql", "load", f"{name}.sql")
    connection.execute(file.read_text("utf-8"), parameters or None)


def _structure_load(schema: str) -> str:
    return json.dumps(schema_structure(validator.schema(schema)))
