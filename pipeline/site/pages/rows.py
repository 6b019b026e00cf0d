"""How does a page read a table? As frozen dataclasses whose fields are the columns it needs."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import duckdb
    from _typeshed import DataclassInstance


R = TypeVar("R", bound="DataclassInstance")


class OfSubmission(Protocol):
    """A row that belongs to one submission."""

    @property
    def submission(self) -> str: ...


S = TypeVar("S", bound=OfSubmission)
T = TypeVar("T")


def read(connection: duckdb.DuckDBPyConnection, cls: type[R], table: str) -> tuple[R, ...]:
    """All rows of a table or view, in its order; a missing column is an error."""
    names = [field.name for field in dataclasses.fields(cls)]
    columns = connection.table(table).select(*(f'"{name}"' for name in names))
    return tuple(cls(**dict(zip(names, row, strict=True))) for row in columns.fetchall())


def by_submission(rows: Iterable[S]) -> Mapping[str, tuple[S, ...]]:
    """Rows grouped by their submission; a submission without rows has none."""
    return grouped(rows, lambda row: row.submission)


def grouped(rows: Iterable[T], key: Callable[[T], str]) -> Mapping[str, tuple[T, ...]]:
    """Rows grouped by a key, in their order; a key without rows has none."""
    groups: defaultdict[str, tuple[T, ...]] = defaultdict(tuple)
    for row in rows:
        groups[key(row)] += (row,)
    return groups
