"""Export the tables as CSV, Parquet and JSON with checksums and a data package.

The same tables give the same bytes: rows stay in order, and nothing depends on clock or machine.
A table that is too large for text is written as Parquet in parts; its usual files then list them.
Text in CSV is guarded: what a spreadsheet would run as a formula gets an apostrophe.
"""

import csv
import datetime as dt
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import duckdb
import numpy as np
import orjson
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.data.datapackage import LICENCE, Resource, data_package
from schemas.vocabulary.metrics import metrics

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
    "round-costs": "round_cost",
    "acceptance-curves": "acceptance_curve",
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
# Some 18 bytes of JSON a value, and a tenth of that in Parquet: no file is larger than 25 MB.
MOST_VALUES, PART_VALUES = 500_000, 1_000_000
ENDS, PIECE = 64, 2000  # one row in so many may be the last; rows whose text is kept together
# Programs read this one: its JSON is an object that names its version, its rows are below its name.
MULTIPLIERS, MULTIPLIERS_VERSION = "multipliers", 1
PACKAGE, SUMS = "datapackage.json", "SHA256SUMS"

Keep: TypeAlias = "Callable[[Callable[[], bytes], object], bytes]"
Pieces: TypeAlias = "Callable[[Callable[[pa.Table], bytes]], Iterable[bytes]]"  # of all rows


def _made(make: Callable[[], bytes], _values: object) -> bytes:
    return make()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file that was written: name, size, digest; `rows` and `table` where it holds one.

    `role`: the rows themselves, a part of them, or the list of the parts.
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
    *,
    most_values: int = MOST_VALUES,
    part_values: int = PART_VALUES,
    kept: Keep = _made,
) -> tuple[ExportedFile, ...]:
    """Write every table of `EXPORTS` in every format, the data package and the checksums.

    A table of more than `most_values` values is written in parts of at most `part_values`; `kept`
    may know what was made of the same rows.
    """
    files: list[ExportedFile] = []
    for stem, name in EXPORTS.items():
        (rows,), columns = connection.table(name).shape[:1], len(connection.table(name).columns)
        if rows * columns > most_values:
            files += _in_parts(folder, stem, connection.table(name), part_values // columns, kept)
        else:
            table = connection.table(name).to_arrow_table()
            pieces = partial(_in_pieces, table, tuple(_cut(connection.table(name), PIECE)), kept)
            files += [replace(file, rows=rows) for file in _forms(folder, stem, table, pieces)]
    described = [_resource(file, file.table) for file in files if file.table and file.columns]
    package = data_package(described)
    files.append(_write(folder, PACKAGE, orjson.dumps(package, option=_PRETTY)))
    sums = sorted((file.name, file.sha256) for file in files)
    lines = "".join(f"{digest}  {name}\n" for name, digest in sums)
    return (*files, _write(folder, SUMS, lines.encode()))


def _resource(file: ExportedFile, table: str) -> Resource:
    return Resource(
        path=file.name,
        bytes=file.bytes,
        sha256=file.sha256,
        table=table,
        columns=file.columns,
        rows_below=MULTIPLIERS if file.name == f"{MULTIPLIERS}.json" else None,
    )


def _in_parts(
    folder: Path, stem: str, rows: duckdb.DuckDBPyRelation, most: int, kept: Keep
) -> Iterator[ExportedFile]:
    """The parts of a large table as Parquet; where its files would be, they are listed."""
    columns = rows.limit(0).to_arrow_table().schema
    parts: list[ExportedFile] = []
    start = 0
    for number, (count, digest) in enumerate(_cut(rows, max(1, most)), 1):
        part = rows.limit(count, offset=start)
        data = kept(partial(_read_as_parquet, part), [stem, str(columns), digest])
        file = _write(folder, f"{stem}/part-{number:04}.parquet", data, of=stem, columns=columns)
        parts.append(replace(file, rows=count, role="part"))
        start += count
    listed = pa.Table.from_pylist(
        [
            {"part": each.name, "rows": each.rows, "bytes": each.bytes, "sha256": each.sha256}
            for each in parts
        ],
        LISTED,
    )
    yield from parts
    for file in _forms(folder, stem, listed, lambda make: [make(listed)]):
        yield replace(file, rows=sum(each.rows or 0 for each in parts), role="list")


def _forms(folder: Path, stem: str, table: pa.Table, pieces: Pieces) -> Iterator[ExportedFile]:
    for suffix, form in (FORMS | OWN_FORMS.get(stem, {})).items():
        data = form(table, pieces)
        yield _write(folder, f"{stem}.{suffix}", data, of=stem, columns=table.schema)


def _in_pieces(
    table: pa.Table, cut: Iterable[tuple[int, str]], kept: Keep, make: Callable[[pa.Table], bytes]
) -> Iterator[bytes]:
    """The text of a table, some rows at a time: what was made of the same rows may be known."""
    start = 0
    for count, digest in cut:
        rows = table.slice(start, count)
        yield kept(partial(make, rows), [make.__name__, str(table.schema), digest])
        start += count


def _read_as_parquet(rows: duckdb.DuckDBPyRelation) -> bytes:
    return _parquet(rows.to_arrow_table())


def _cut(rows: duckdb.DuckDBPyRelation, most: int) -> Iterator[tuple[int, str]]:
    """How many rows each part has, and a digest of them.

    The rows themselves say where a part may end: a new one changes its part and seldom the next.
    """
    every = map(duckdb.ColumnExpression, rows.columns)
    hashed = duckdb.FunctionExpression("hash", *every).alias("digest")
    digests = rows.select(hashed).fetchnumpy()["digest"]
    (ends,) = np.nonzero(digests % ENDS == 0)
    start = 0
    while start < len(digests):
        later = ends[np.searchsorted(ends, start + most // 2) :]
        end = min(int(later[0]) + 1 if len(later) else len(digests), start + most, len(digests))
        yield end - start, hashlib.sha256(digests[start:end].tobytes()).hexdigest()
        start = end


def guarded(text: str) -> str:
    """The text in a form that a spreadsheet opens without running anything."""
    runs = text[:1] in {"\t", "\r"} or text.lstrip().startswith(FORMULA_STARTS)
    return f"'{text}" if runs else text


def _csv(table: pa.Table, pieces: Pieces) -> bytes:
    return b"".join((_csv_lines([table.column_names]), *pieces(_csv_rows)))


def _csv_rows(table: pa.Table) -> bytes:
    return _csv_lines(zip(*map(_cells, table.columns), strict=True))


def _csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _cells(column: pa.ChunkedArray) -> list[object]:
    """A column as `csv` prints it; of its texts, each different one is looked at once."""
    values = _values(column)
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return values
    if pa.types.is_nested(column.type):
        return list(map(_cell, values))
    known = {value: _cell(value) for value in set(values)}
    return [known[value] for value in values]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; polars is ten times as fast at it as Arrow."""
    found: list[Any] = pl.Series(values=column).to_list()
    return found


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    columns = map(_values, table.columns)
    names = table.column_names
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


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


def _json(_table: pa.Table, pieces: Pieces) -> bytes:
    return b"[" + b",".join(pieces(_json_rows)) + b"]\n"


def _json_rows(table: pa.Table) -> bytes:
    return orjson.dumps(_rows(table), option=_COMPACT)[1:-2]


def _versioned(table: pa.Table, pieces: Pieces) -> bytes:
    """Rows for programs, under a version that changes when a name or a meaning does."""
    known = metrics()
    dated = "last_measured" in table.column_names
    value = {
        "format": f"draftmap-{MULTIPLIERS}",
        "version": MULTIPLIERS_VERSION,
        "as_of": pc.max(table["last_measured"]).as_py() if dated else None,
        "documentation": f"./#{MULTIPLIERS}",
        "licence": LICENCE["name"],
        "licence_note": "of the measured rows and of the collection; every row names its own",
        "units": {name: known[name].unit for name in table.column_names if name in known},
        MULTIPLIERS if dated else "parts": orjson.Fragment(_json(table, pieces)[:-1]),
    }
    return orjson.dumps(value, option=_COMPACT)


def _parquet(table: pa.Table, _pieces: object = None) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


Form: TypeAlias = "Callable[[pa.Table, Pieces], bytes]"
FORMS: dict[str, Form] = {"csv": _csv, "json": _json, "parquet": _parquet}
OWN_FORMS: dict[str, dict[str, Form]] = {MULTIPLIERS: {"json": _versioned}}
LISTED = pa.schema(
    {"part": pa.string(), "rows": pa.int64(), "bytes": pa.int64(), "sha256": pa.string()}
)
_COMPACT = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def _write(
    folder: Path, name: str, data: bytes, *, of: str | None = None, columns: pa.Schema | None = None
) -> ExportedFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return ExportedFile(
        name=name,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        table=EXPORTS[of] if of else None,
        columns=columns,
    )
