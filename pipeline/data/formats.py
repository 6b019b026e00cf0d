"""Write a table as CSV, JSON or Parquet; equal rows give equal bytes."""

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeAlias

import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from polars import selectors as cs

from estimates.model import ESTIMATOR

# OWASP's list (CSV injection), and the full-width variants that some spreadsheets read, too.
FORMULA_STARTS = (
    *("=", "+", "-", "@"),
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)
SUSPECT = re.compile(f"[\t\r{re.escape(''.join(FORMULA_STARTS))}]")
# Whatever may start a cell with a formula: `guarded` decides. Polars has fewer kinds of spaces.
MAY_RUN = rf"(?:^|[,;\t|])[\s\x00-\x20]*[{re.escape(''.join(FORMULA_STARTS))}]|^[\t\r]"
COMPACT = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE


def guarded(text: str, separators: str = ",;\t|") -> str:
    """Prefix formulas in a text with an apostrophe, so that no spreadsheet runs them.

    Some spreadsheets split cells at characters other than commas, so each of the `separators` may
    start a new cell.
    """
    if not SUSPECT.search(text):
        return text
    runs = text[:1] in {"\t", "\r"} or text.lstrip().startswith(FORMULA_STARTS)
    text = _cell_starts(separators).sub(r"\g<0>'", text)
    return f"'{text}" if runs else text


@cache
def _cell_starts(separators: str) -> re.Pattern[str]:
    starts = re.escape("".join(FORMULA_STARTS))
    return re.compile(rf"(?<=[{separators}])\s*+(?=[{starts}])")


def as_csv(table: pa.Table) -> bytes:
    columns = zip(table.column_names, map(_cells, table.columns), strict=True)
    return pl.DataFrame(dict(columns)).write_csv().encode()


def csv_of(names: Sequence[str], rows: Iterable[Iterable[object]]) -> bytes:
    """A CSV file of values that are already guarded."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([names, *rows])
    return stream.getvalue().encode()


def as_json(table: pa.Table) -> bytes:
    frame = pl.DataFrame(table)
    dated = frame.with_columns(cs.datetime().dt.to_string("%Y-%m-%dT%H:%M:%S%.fZ"))
    return dated.write_json().encode() + b"\n"


def as_parquet(table: pa.Table) -> bytes:
    """A compressed Parquet file with the estimator's name in its metadata.

    Only texts have dictionaries: those of numbers take as long again and make larger files.
    """
    stream = io.BytesIO()
    named = table.replace_schema_metadata({"estimator": ESTIMATOR})
    texts = [column.name for column in table.schema if column.type == pa.string()]
    pq.write_table(named, stream, compression="zstd", use_dictionary=texts)
    return stream.getvalue()


Format: TypeAlias = "Callable[[pa.Table], bytes]"
FORMATS: dict[str, Format] = {"csv": as_csv, "json": as_json, "parquet": as_parquet}


def _cells(column: pa.ChunkedArray) -> pl.Series:
    """A column's values as written to CSV; each distinct string is guarded only once."""
    values = pl.Series(values=column)
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values
    if values.dtype.is_nested():
        return pl.Series(map(_cell, values.to_list()), dtype=pl.String)
    if values.dtype == pl.String:
        suspect = values.filter(values.str.contains(MAY_RUN)).unique().to_list()
        return values.replace(suspect, list(map(guarded, suspect)))
    known = {value: _cell(value) for value in values.unique().to_list()}
    return values.replace_strict(known, return_dtype=pl.String)


def _cell(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, dt.datetime):
        return f"{value.isoformat()}Z"
    if isinstance(value, list | dict):
        return guarded(orjson.dumps(value).decode(), ";\t|")  # in JSON a minus may follow a comma
    return guarded(str(value))
