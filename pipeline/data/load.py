"""Load accepted documents into typed DuckDB tables, one nested row per file.

The types come from the schema, so no file changes a table's columns, and an empty corpus has the
same tables. After loading, no query can read a file or the network.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from itertools import islice
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any, NamedTuple, TypeAlias

import duckdb
import msgspec
import pyarrow as pa

from estimates.identity import Identity
from estimates.model import Summary
from pipeline.collection.validation import AcceptedText
from schemas import validator

Structure: TypeAlias = "str | list[Structure] | dict[str, Structure]"
Schema: TypeAlias = Mapping[str, Any]  # a JSON schema can have any JSON structure

LEAVES = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
FORMATS = {"date-time": "TIMESTAMP", "date": "DATE"}
PYTHON_LEAVES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def schema_structure(schema: Schema, root: Schema | None = None) -> Structure:
    """The DuckDB structure of documents that match a JSON Schema; `root` defines its `$ref`s."""
    root = root or schema
    node = validator.resolved(schema, root)
    properties = _properties(node, root)
    if properties:
        return {name: schema_structure(child, root) for name, child in properties.items()}
    if node.get("type") == "array":
        return [schema_structure(node["items"], root)]
    if "anyOf" in node:  # the type of a field that may be `None`
        return schema_structure(node["anyOf"][0], root)
    return _leaf(node)


def _properties(node: Schema, root: Schema) -> Schema:
    """The properties of an object, including those of its tagged variants (`allOf … then $ref`)."""
    properties = dict(node.get("properties", {}))
    for variant in (branch.get("then", {}) for branch in node.get("allOf", ())):
        if "$ref" in variant:
            properties |= validator.resolved(variant, root)["properties"] | properties
    return properties


def _leaf(node: Schema) -> str:
    if node.get("format") in FORMATS:
        return FORMATS[node["format"]]
    if "type" in node:
        return LEAVES[node["type"]]
    value = node["const"] if "const" in node else node["enum"][0]
    return PYTHON_LEAVES[type(value)]


TEXT, YES_NO = pa.string(), pa.bool_()
TEXT_ROW = pa.schema({"file": TEXT, "document": TEXT})
SOURCES_ROW = pa.schema({"document": TEXT})


class AcceptedSubmission(NamedTuple):
    """An accepted file as it is loaded: its text, with the JSON of its `Identity` and `Summary`.

    `submission` is a unique name that is safe in web addresses. `preview` marks a file outside the
    corpus. `key` is a digest of all that the file's rows depend on.
    """

    submission: str
    file: str
    preview: bool
    document: str
    identity: bytes
    summary: bytes
    key: str = ""


SUBMISSION_ROW = pa.schema(
    {name: YES_NO if name == "preview" else TEXT for name in AcceptedSubmission._fields}
)


# The memory limit for tables; larger tables spill to disk. Working memory of queries and Python is
# not included: a build of 10,000 files takes 2.0 GB.
MOST_MEMORY = "1600MB"
FILES_AT_ONCE = 64  # the number of files whose texts are in memory together


def connect() -> duckdb.DuckDBPyConnection:
    """Open an empty in-memory database that spills to a temporary folder."""
    spilled = Path(gettempdir(), f"draftmap-tables-{token_hex(8)}")  # made when it is needed
    connection = duckdb.connect(
        ":memory:",
        config={"threads": 1, "temp_directory": str(spilled), "memory_limit": MOST_MEMORY},
    )
    connection.execute("set enable_progress_bar = false")
    return connection


def load(
    submissions: Iterable[AcceptedSubmission],
    published: Iterable[AcceptedText],
    lifecycle: Iterable[AcceptedText] = (),
    sources: str | None = None,
    *,
    optimised: bool = True,
    filled: Callable[[duckdb.DuckDBPyConnection], None] | None = None,
) -> duckdb.DuckDBPyConnection:
    """A database with one table of documents per kind of file, one row per file.

    `sources` is the table of sources as JSON. With few rows, queries are faster if DuckDB does not
    optimise their plans (`optimised=False`). `filled` is called before files are closed to queries.
    """
    connection = connect()
    if not optimised:
        connection.execute("pragma disable_optimizer")
    for kind, entries, schema in (
        ("published", published, validator.PUBLISHED_SCHEMA),
        ("lifecycle", lifecycle, validator.LIFECYCLE_SCHEMA),
    ):
        rows = [{"file": entry.source.path.name, "document": entry.text} for entry in entries]
        _create(connection, kind, pa.Table.from_pylist(rows, TEXT_ROW), _described(schema))
    listed = pa.Table.from_pylist([] if sources is None else [{"document": sources}], SOURCES_ROW)
    _create(connection, "sources", listed, _described(validator.SOURCES_SCHEMA))
    document = json.loads(_described(validator.SUBMISSION_SCHEMA))
    trials = {"trials": document.pop("trials")}
    _create(
        connection,
        "submission",
        pa.RecordBatchReader.from_batches(SUBMISSION_ROW, _batches(submissions)),
        json.dumps(document),
        trials=json.dumps(trials),
        identity=json.dumps(schema_structure(msgspec.json.schema(Identity))),
        summary=json.dumps(schema_structure(msgspec.json.schema(Summary))),
    )
    if filled:
        filled(connection)
    connection.execute(sql_text("load/closed"))
    return connection


def _create(
    connection: duckdb.DuckDBPyConnection,
    kind: str,
    rows: pa.Table | pa.RecordBatchReader,
    document: str,
    **structures: str,
) -> None:
    """Create the table for one kind of document from rows of JSON text."""
    connection.register(f"input_{kind}", rows)
    connection.execute(sql_text(f"load/{kind}_document"), {"document": document, **structures})
    connection.unregister(f"input_{kind}")


def _batches(submissions: Iterable[AcceptedSubmission]) -> Iterator[pa.RecordBatch]:
    """Batches of submissions as rows of JSON text; all texts together may not fit into memory."""
    rows = map(AcceptedSubmission._asdict, submissions)
    while some := list(islice(rows, FILES_AT_ONCE)):
        yield pa.RecordBatch.from_pylist(some, SUBMISSION_ROW)


def sql_text(name: str) -> str:
    """The text of the file `sql/<name>.sql`."""
    return resources.files("pipeline.data").joinpath(f"sql/{name}.sql").read_text("utf-8")


def _described(schema: str) -> str:
    return json.dumps(schema_structure(validator.schema(schema)))
