"""Describe the exported files as a Frictionless data package, with every file and column."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from estimates.model import ESTIMATOR
from pipeline.data.aggregate import row_meaning
from pipeline.data.columns import description, keys, title
from pipeline.data.metrics import metrics

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
VERSION = "3.0.0"  # incremented when a name or a meaning changes
LICENCE = {"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}
MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
# Programs read this table: its JSON is an object with the table's version, and the rows under the
# table's name.
SPEEDUPS = "speedups"
# Table Schema's names of types, by the beginning of Arrow's names.
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
# The columns of the list that replaces a table in parts.
LISTED = {
    "part": "Name of a file that contains part of the rows.",
    "rows": "Number of rows in the file.",
    "bytes": "Size of the file in bytes.",
    "sha256": "SHA-256 of the file.",
}


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


def data_package(files: Iterable[ExportedFile]) -> dict[str, Any]:
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
    columns = [*(file.columns or ())]
    return {
        "name": f"{stem}-{suffix}",
        "path": file.name,
        "format": suffix,
        "mediatype": MEDIA_TYPES[suffix],
        "bytes": file.bytes,
        "hash": f"sha256:{file.sha256}",
        "description": row_meaning(table).replace("`", ""),
        "schema": {
            "fields": [_field(column, table) for column in columns],
            **keys(stem, [column.name for column in columns], suffix),
        },
    } | ({"dialect": {"property": SPEEDUPS}} if file.name == f"{SPEEDUPS}.json" else {})


def _field(column: pa.Field, table: str) -> dict[str, str]:
    kind = next(name for start, name in KINDS.items() if str(column.type).startswith(start))
    field = {"name": column.name, "type": kind, "title": title(column.name)}
    if column.name in LISTED:  # a column in the list of a large table's parts
        return field | {"description": LISTED[column.name]}
    field["description"] = description(column.name, table).replace("`", "")
    metric = metrics().get(column.name)
    if kind not in ("integer", "number") or metric is None:  # a count of parts is not a metric
        return field
    return field | {"unit": metric.unit, "better": metric.direction}
