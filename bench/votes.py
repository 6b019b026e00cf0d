"""Compute intervals of pooled figures with the pipeline's SQL, from simulated votes."""

from collections.abc import Iterable
from typing import NamedTuple, get_type_hints

import duckdb
import pyarrow as pa

from pipeline.data.aggregate import make, prepare, view_queries


class Vote(NamedTuple):
    """A row of the table `vote`: one contributor's figure for a measure in a pool."""

    pool: str
    voter: str
    ratio: float
    measure: str = "speedup"
    known: bool = True
    tier: str = "measured"
    shared: bool = False
    half_width: float | None = None
    prompts: int = 2
    machines: int = 1
    files: int = 1


_TYPES = {str: pa.string(), bool: pa.bool_(), int: pa.int64()}
VOTE = pa.schema({name: _TYPES.get(of, pa.float64()) for name, of in get_type_hints(Vote).items()})


class PoolInterval(NamedTuple):
    """A row of the table `pool_interval`."""

    pool: str
    measure: str
    low: float
    high: float
    kind: str
    spread: float


def pool_intervals(votes: Iterable[Vote]) -> list[PoolInterval]:
    """Return the intervals of all pools and measures in these votes."""
    with duckdb.connect() as connection:
        prepare(connection)
        rows = pa.Table.from_pylist([vote._asdict() for vote in votes], VOTE)
        connection.from_arrow(rows).create("vote")
        make(connection, "pool_interval", view_queries()["pool_interval"])
        found = connection.table("pool_interval").fetchall()
    return list(map(PoolInterval._make, found))
