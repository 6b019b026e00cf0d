"""Where are the data? Every exported file with its size, every column with its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from pipeline.data.export import EXPORTS, ExportedFile
from pipeline.data.metrics import views
from pipeline.site.pages.environment import day, render
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.rows import grouped
from pipeline.site.pages.structured_data import dataset
from schemas.vocabulary import metrics

FIRST = "cells"  # what most readers look for


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of an exported table."""

    name: str
    kind: str
    label: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """One exported table in all its formats."""

    name: str
    row: str
    rows: int
    files: tuple[ExportedFile, ...]
    columns: tuple[Column, ...]


def data_page(
    connection: duckdb.DuckDBPyConnection, site: Site, files: tuple[ExportedFile, ...]
) -> Page:
    """The page of everything that can be downloaded."""
    first, last = _days(connection)
    return render(
        "data.md.jinja",
        path="data.md",
        site=site,
        datasets=tuple(datasets(connection, files)),
        others=tuple(file for file in files if file.table is None),
        structured=dataset(files, site, first=first, last=last),
        last=last,
    )


def _days(connection: duckdb.DuckDBPyConnection) -> tuple[str | None, str | None]:
    """The days of the first and the last measurement."""
    found = connection.table("submission").aggregate("min(measured_from), max(measured_until)")
    first, last = found.fetchall()[0]
    return (day(first), day(last)) if first and last else (None, None)


def datasets(
    connection: duckdb.DuckDBPyConnection, files: tuple[ExportedFile, ...]
) -> Iterator[DataSet]:
    """Every exported table with its files, the most asked for first."""
    by_table = grouped([file for file in files if file.table], lambda file: file.table or "")
    known = metrics()
    described = {view.name: view for view in views(connection)}
    for name in sorted(EXPORTS, key=lambda name: name != FIRST):
        table = EXPORTS[name]
        view = described[table]
        yield DataSet(
            name=name,
            row=view.row,
            rows=by_table[table][0].rows or 0,
            files=by_table[table],
            columns=tuple(
                Column(
                    name=column,
                    kind=kind.lower() if len(kind) < len("struct") * 3 else "nested",
                    label=known[column].label if column in known else "",
                    unit=known[column].unit if column in known else "",
                )
                for column, kind in view.columns
            ),
        )
