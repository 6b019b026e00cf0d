"""Intervals of pools from votes that are made up, by the SQL of the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pyarrow as pa

from pipeline.data.aggregate import make, prepare, view_queries

if TYPE_CHECKING:
    from collections.abc import Iterable

VOTE = pa.schema(
    {
        "pool": pa.string(),
        "voter": pa.string(),
        "ratio": pa.float64(),
        "measure": pa.string(),
        "known": pa.bool_(),
        "cell": pa.bool_(),
        "tier": pa.string(),
        "shared": pa.bool_(),
        "half_width": pa.float64(),
        "prompts": pa.int64(),
        "machines": pa.int64(),
        "files": pa.int64(),
        "deviation": pa.float64(),
    }
)


class Vote(NamedTuple):
    """A row of the table `vote`."""

    pool: str
    voter: str
    ratio: float
    measure: str = "speedup"
    known: bool = True
    cell: bool = True
    tier: str = "measured"
    shared: bool = False
    half_width: float | None = None
    prompts: int = 2
    machines: int = 1
    files: int = 1
    deviation: float | None = None


class PoolInterval(NamedTuple):
    """A row of the table `pool_interval`."""

    pool: str
    measure: str
    voters: str
    low: float
    high: float
    kind: str
    spread: float


def pool_intervals(votes: Iterable[Vote]) -> list[PoolInterval]:
    """The intervals of all pools and measures from all of these votes."""
    with duckdb.connect() as connection:
        prepare(connection)
        rows = pa.Table.from_pylist([vote._asdict() for vote in votes], VOTE)
        connection.from_arrow(rows).create("vote")
        make(connection, "pool_interval", view_queries()["pool_interval"])
        found = connection.table("pool_interval").filter("voters = 'all'").fetchall()
    return list(map(PoolInterval._make, found))
