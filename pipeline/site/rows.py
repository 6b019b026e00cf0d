"""Read the database: named tuples for templates, polars frames for reshaping."""

from collections import defaultdict, namedtuple
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, TypeAlias, TypeVar

import duckdb
import polars as pl

Row: TypeAlias = Any  # a named tuple, whose fields SQL knows but a type checker does not
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
_SUBMISSION = duckdb.ColumnExpression("submission")


def read(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    submissions: Sequence[str] | None = None,
    **parameters: str,
) -> tuple[Row, ...]:
    """The rows of `sql/<name>.sql`, or of the table `name`, for all or only some submissions."""
    if _file(name).is_file():
        relation = connection.sql(text(name), params=parameters or None)
    else:
        relation = connection.table(name)
    if submissions is not None:
        names = map(duckdb.ConstantExpression, submissions)
        relation = relation.filter(_SUBMISSION.isin(*names))
    row = namedtuple(name, relation.columns)  # type: ignore[misc]  # noqa: PYI024 - SQL has the types
    return tuple(map(row._make, relation.fetchall()))


def frame(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> pl.DataFrame:
    """The rows of `sql/<name>.sql` as a frame."""
    found: pl.DataFrame = connection.sql(text(name), params=parameters or None).pl()
    return found


def text(name: str) -> str:
    """The SQL of one of the site's queries, with its parameters as `$name`."""
    return _file(name).read_text("utf-8")


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> Mapping[K, tuple[T, ...]]:
    """Rows grouped by a key, each group in the original order; an unknown key gives no rows."""
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return defaultdict(tuple, {name: tuple(found) for name, found in groups.items()})


def _file(name: str) -> Traversable:
    return resources.files("pipeline.site") / "sql" / f"{name}.sql"
