"""Export the tables as CSV, Parquet and JSON, with checksums and a data package.

Equal tables give equal bytes: rows keep their order, and nothing depends on the clock or the
machine. A table too large for text formats is split into several Parquet files, and a list of these
parts replaces the table in each format.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import duckdb
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from estimates.model import ESTIMATOR
from pipeline.cache import Cache
from pipeline.data.aggregate import own_queries, row_meaning
from pipeline.data.column_meanings import description, metrics, title
from pipeline.data.formats import COMPACT, FORMATS, Format, as_json, as_parquet
from pipeline.data.runs import runs
from schemas.vocabulary.documents import document

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
VERSION = "3.0.0"  # incremented when a name or a meaning changes
_TABLES = document("exports", "pipeline.data")
EXPORTS: dict[str, str] = _TABLES["files"]
MEDIA_TYPES: dict[str, str] = _TABLES["media_types"]
KINDS: dict[str, str] = _TABLES["kinds"]
LICENCE = {"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}
# Programs read this table: its JSON is an object with the table's version, and the rows under the
# table's name.
SPEEDUPS = "speedups"
# The columns of the list that replaces a table in parts, with their types and meanings.
LISTED = {
    "part": (pa.string(), "Name of a file that contains part of the rows."),
    "rows": (pa.int64(), "Number of rows in the file."),
    "bytes": (pa.int64(), "Size of the file in bytes."),
    "sha256": (pa.string(), "SHA-256 of the file."),
}
# A value takes about 18 bytes in JSON and a tenth of that in Parquet, so no file exceeds 25 MB.
MOST_VALUES, PART_VALUES = 500_000, 1_000_000
# Tables whose rows each belong to one submission: their parts are runs of submissions.
BY_SUBMISSION = {*own_queries(), "evidence"}
IN_ORDER, RUN = "submission, rowid", 128
SPEEDUPS_VERSION = 2
PACKAGE, SUMS = "datapackage.json", "SHA256SUMS"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """An exported file: name, size and digest; a file with rows also has `rows` and `table`.

    `role` says whether the file contains all rows, a part of them, or the list of parts.
    """

    name: str
    bytes: int
    sha256: str
    table: str | None = None
    rows: int | None = None
    columns: pa.Schema | None = None
    role: Literal["rows", "part", "list"] = "rows"


def export(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    cache: Cache | None = None,
    *,
    most_values: int = MOST_VALUES,
    part_values: int = PART_VALUES,
    run: int = RUN,
) -> tuple[ExportedFile, ...]:
    """Write tables in every format (large tables in parts), the data package and the checksums."""
    files: list[ExportedFile] = []
    for stem, name in EXPORTS.items():
        table = connection.table(name)
        rows, columns = table.shape
        if rows * columns <= most_values:
            ordered = table.order(IN_ORDER) if name in BY_SUBMISSION else table
            files += _in_all_formats(folder, stem, ordered.to_arrow_table(), rows=rows)
        elif name in BY_SUBMISSION:
            parts = _runs(connection, name, cache or Cache(), run)
            files += _in_parts(folder, stem, table, parts)
        else:
            starts = range(0, rows, most := max(1, part_values // columns))
            parts = (table.limit(most, offset=start).to_arrow_table() for start in starts)
            files += _in_parts(folder, stem, table, map(as_parquet, parts))
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    files.append(_write(folder, PACKAGE, orjson.dumps(_package(files), option=option)))
    sums = sorted((file.name, file.sha256) for file in files)
    lines = "".join(f"{digest}  {name}\n" for name, digest in sums)
    return (*files, _write(folder, SUMS, lines.encode()))


def _runs(
    connection: duckdb.DuckDBPyConnection, name: str, cache: Cache, size: int
) -> Iterator[bytes]:
    """A table's rows as Parquet, for each run of submissions that has any."""
    query = f"from {name} where submission between $first and $last order by {IN_ORDER}"
    for run in runs(connection, size):
        ends = {"first": run.names[0], "last": run.names[-1]}
        made = partial(_parquet, connection, query, ends)
        data = cache.get_or_make([name, run.names, run.inputs], made, level=0)
        if pq.read_metadata(BytesIO(data)).num_rows:
            yield data


def _parquet(connection: duckdb.DuckDBPyConnection, query: str, within: Mapping[str, str]) -> bytes:
    return as_parquet(connection.sql(query, params=within).to_arrow_table())


def _in_parts(
    folder: Path, stem: str, rows: duckdb.DuckDBPyRelation, written: Iterable[bytes]
) -> Iterator[ExportedFile]:
    """Write the Parquet files of a large table, and a list of these parts in each format."""
    parts: list[ExportedFile] = []
    facts = {"table": EXPORTS[stem], "columns": rows.limit(0).to_arrow_table().schema}
    for number, data in enumerate(written, 1):
        name, count = f"{stem}/part-{number:04}.parquet", pq.read_metadata(BytesIO(data)).num_rows
        parts.append(_write(folder, name, data, role="part", rows=count, **facts))
    yield from parts
    values = [(part.name, part.rows, part.bytes, part.sha256) for part in parts]
    listed = [dict(zip(LISTED, each, strict=True)) for each in values]
    table = pa.Table.from_pylist(
        listed, pa.schema({name: kind for name, (kind, _) in LISTED.items()})
    )
    yield from _in_all_formats(folder, stem, table, rows=rows.shape[0], role="list")


def _in_all_formats(
    folder: Path, stem: str, table: pa.Table, *, rows: int, role: Literal["rows", "list"] = "rows"
) -> Iterator[ExportedFile]:
    facts = {"table": EXPORTS[stem], "rows": rows, "columns": table.schema, "role": role}
    for suffix, form in (FORMATS | OWN_FORMATS.get(stem, {})).items():
        yield _write(folder, f"{stem}.{suffix}", form(table), **facts)


def _versioned(table: pa.Table) -> bytes:
    columns = metrics()
    dated = "last_measured" in table.column_names
    value = {
        "format": f"draftmap-{SPEEDUPS}",
        "version": SPEEDUPS_VERSION,
        "estimator": ESTIMATOR,
        "as_of": pc.max(table["last_measured"]).as_py() if dated else None,
        "documentation": f"./#{SPEEDUPS}",
        "licence": LICENCE["name"],
        "licence_note": "applies to measured rows and the collection; every row states its licence",
        "units": {name: columns[name].unit for name in table.column_names if name in columns},
        SPEEDUPS if dated else "parts": orjson.Fragment(as_json(table)[:-1]),
    }
    return orjson.dumps(value, option=COMPACT)


OWN_FORMATS: dict[str, dict[str, Format]] = {SPEEDUPS: {"json": _versioned}}


def _write(
    folder: Path,
    name: str,
    data: bytes,
    **facts: Any,  # noqa: ANN401 - other fields of an exported file
) -> ExportedFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    return ExportedFile(name=name, bytes=len(data), sha256=digest, **facts)


def _package(files: Iterable[ExportedFile]) -> dict[str, Any]:
    """The package descriptor, a JSON object, with all files that contain tables."""
    return {
        "$schema": PROFILE,
        "name": "draftmap",
        "version": VERSION,
        "estimator": ESTIMATOR,
        "title": "Draftmap: where speculative decoding makes a local LLM faster or slower",
        "licenses": [LICENCE],
        "resources": [_entry(file, file.table) for file in files if file.table],
    }


def _entry(file: ExportedFile, table: str) -> dict[str, Any]:
    stem, _, suffix = file.name.rpartition(".")
    return {
        "name": f"{stem}-{suffix}",
        "path": file.name,
        "format": suffix,
        "mediatype": MEDIA_TYPES[suffix],
        "bytes": file.bytes,
        "hash": f"sha256:{file.sha256}",
        "description": row_meaning(table).replace("`", ""),
        "schema": {"fields": [_field(column, table) for column in (file.columns or ())]},
    } | ({"dialect": {"property": SPEEDUPS}} if file.name == f"{SPEEDUPS}.json" else {})


def _field(column: pa.Field, table: str) -> dict[str, str]:
    kind = next(name for start, name in KINDS.items() if str(column.type).startswith(start))
    field = {"name": column.name, "type": kind, "title": title(column.name)}
    if column.name in LISTED:  # a column in the list of a large table's parts
        return field | {"description": LISTED[column.name][1]}
    field["description"] = description(column.name, table).replace("`", "")
    metric = metrics().get(column.name)
    if kind not in ("integer", "number") or metric is None:  # a count of parts is not a metric
        return field
    return field | {"unit": metric.unit, "better": metric.direction}
