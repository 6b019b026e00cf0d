"""Export the tables as CSV, Parquet and JSON with checksums and a data package.

The same tables give the same bytes: rows stay in order, and nothing depends on clock or machine.
Text in CSV is guarded: what a spreadsheet would run as a formula gets an apostrophe.
"""

import csv
import datetime as dt
import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.data.datapackage import LICENCE, Resource, data_package
from schemas.vocabulary import metrics

# File stem to table: what a researcher asks for, from raw to aggregated.
EXPORTS = {
    "submissions": "submission",
    "standings": "standing",
    "gpus": "gpu",
    "arms": "arm",
    "trials": "trial",
    "verification-curves": "verification_curve",
    "estimates": "evidence",
    "prompt-estimates": "prompt_estimate",
    "flags": "flag",
    "cells": "cell",
    "predictions": "advice_prediction",
    "engine-builds": "build_step",
    "multipliers": "multiplier",
    "published": "published_view",
    "sources": "source",
}
# As OWASP lists them (CSV injection), with the full-width twins that some spreadsheets read too.
FORMULA_STARTS = (
    *("=", "+", "-", "@"),
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)
# Programs read this one: its JSON is an object that names its version, its rows are below its name.
MULTIPLIERS, MULTIPLIERS_VERSION = "multipliers", 1
PACKAGE, SUMS = "datapackage.json", "SHA256SUMS"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file that was written: name, size, digest; `rows` and `table` where it holds one."""

    name: str
    bytes: int
    sha256: str
    table: str | None = None
    rows: int | None = None


def export(connection: duckdb.DuckDBPyConnection, folder: Path) -> tuple[ExportedFile, ...]:
    """Write every table of `EXPORTS` in every format, the data package and the checksums."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {stem: _arrow(connection, table) for stem, table in EXPORTS.items()}
    forms = {MULTIPLIERS: FORMS | {"json": _versioned}}
    files = [
        _write(folder, f"{stem}.{suffix}", form(table), table=EXPORTS[stem], rows=table.num_rows)
        for stem, table in tables.items()
        for suffix, form in forms.get(stem, FORMS).items()
    ]
    resources = [
        Resource(
            path=file.name,
            bytes=file.bytes,
            sha256=file.sha256,
            table=EXPORTS[stem],
            columns=tables[stem].schema,
            rows_below=MULTIPLIERS if file.name == f"{MULTIPLIERS}.json" else None,
        )
        for file in files
        for stem in (file.name.rpartition(".")[0],)
    ]
    package = data_package(resources)
    files.append(_write(folder, PACKAGE, orjson.dumps(package, option=_PRETTY)))
    sums = "".join(f"{file.sha256}  {file.name}\n" for file in sorted(files, key=_by_name))
    return (*files, _write(folder, SUMS, sums.encode()))


def guarded(text: str) -> str:
    """The text in a form that a spreadsheet opens without running anything."""
    runs = text[:1] in {"\t", "\r"} or text.lstrip().startswith(FORMULA_STARTS)
    return f"'{text}" if runs else text


def _csv(table: pa.Table) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows([_cell(value) for value in row.values()] for row in table.to_pylist())
    return stream.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return f"{value.isoformat()}Z"
    if isinstance(value, list | dict):
        return guarded(orjson.dumps(value).decode())
    return value


def _json(table: pa.Table) -> bytes:
    return orjson.dumps(table.to_pylist(), option=_COMPACT)


def _versioned(table: pa.Table) -> bytes:
    """Rows for programs, under a version that changes when a name or a meaning does."""
    known = metrics()
    rows = table.to_pylist()
    value = {
        "format": f"draftmap-{MULTIPLIERS}",
        "version": MULTIPLIERS_VERSION,
        "as_of": max((row["last_measured"] for row in rows if row["last_measured"]), default=None),
        "documentation": f"./#{MULTIPLIERS}",
        "licence": LICENCE["name"],
        "licence_note": "of the measured rows and of the collection; every row names its own",
        "units": {name: known[name].unit for name in table.column_names if name in known},
        MULTIPLIERS: rows,
    }
    return orjson.dumps(value, option=_COMPACT)


def _parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


FORMS: dict[str, Callable[[pa.Table], bytes]] = {"csv": _csv, "json": _json, "parquet": _parquet}
_COMPACT = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def _arrow(connection: duckdb.DuckDBPyConnection, table: str) -> pa.Table:
    return connection.table(table).to_arrow_table()


def _write(
    folder: Path, name: str, data: bytes, *, table: str | None = None, rows: int | None = None
) -> ExportedFile:
    (folder / name).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    return ExportedFile(name=name, bytes=len(data), sha256=digest, table=table, rows=rows)


def _by_name(file: ExportedFile) -> str:
    return file.name
