"""Export the tables as CSV, Parquet and JSON, with checksums and a data package.

Equal tables give equal bytes: rows keep their order, and nothing depends on the clock or the
machine. A table too large for text formats is split into several Parquet files, and a list of these
parts replaces the table in each format.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import duckdb
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from estimates.model import ESTIMATOR
from pipeline.data.datapackage import LICENCE, SPEEDUPS, ExportedFile, data_package
from pipeline.data.formats import COMPACT, FORMATS, Format, as_json, as_parquet
from pipeline.data.metrics import metrics

# File stem to table: the tables for researchers, from raw to aggregated.
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
    "best": "best",
    "predictions": "prediction",
    "round-costs": "round_cost",
    "acceptance-curves": "acceptance_curve",
    "draft-grid": "draft_grid",
    "engine-builds": "build_step",
    "pairs": "pair",
    "speedups": "speedup",
    "published": "published_view",
    "sources": "source",
}
# A value takes about 18 bytes in JSON and a tenth of that in Parquet, so no file exceeds 25 MB.
MOST_VALUES, PART_VALUES = 500_000, 1_000_000
SPEEDUPS_VERSION = 2
PACKAGE, SUMS = "datapackage.json", "SHA256SUMS"
LISTED = pa.schema(
    {"part": pa.string(), "rows": pa.int64(), "bytes": pa.int64(), "sha256": pa.string()}
)


def export(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    *,
    most_values: int = MOST_VALUES,
    part_values: int = PART_VALUES,
) -> tuple[ExportedFile, ...]:
    """Write tables in every format (large tables in parts), the data package and the checksums."""
    files: list[ExportedFile] = []
    for stem, name in EXPORTS.items():
        table = connection.table(name)
        rows, columns = table.shape
        if rows * columns > most_values:
            files += _in_parts(folder, stem, table, max(1, part_values // columns))
        else:
            files += _in_all_formats(folder, stem, table.to_arrow_table(), rows=rows)
    package = orjson.dumps(
        data_package(files), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    files.append(_write(folder, PACKAGE, package))
    sums = sorted((file.name, file.sha256) for file in files)
    lines = "".join(f"{digest}  {name}\n" for name, digest in sums)
    return (*files, _write(folder, SUMS, lines.encode()))


def _in_parts(
    folder: Path, stem: str, rows: duckdb.DuckDBPyRelation, most: int
) -> Iterator[ExportedFile]:
    """Split a large table into Parquet files, and write a list of these parts in each format."""
    parts: list[ExportedFile] = []
    for number, start in enumerate(range(0, rows.shape[0], most), 1):
        table = rows.limit(most, offset=start).to_arrow_table()
        name = f"{stem}/part-{number:04}.parquet"
        facts = {"table": EXPORTS[stem], "rows": table.num_rows, "columns": table.schema}
        parts.append(_write(folder, name, as_parquet(table), role="part", **facts))
    yield from parts
    listed = [
        {"part": part.name, "rows": part.rows, "bytes": part.bytes, "sha256": part.sha256}
        for part in parts
    ]
    table = pa.Table.from_pylist(listed, LISTED)
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
