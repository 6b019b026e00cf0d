"""Divide the submissions into runs, each of which is written again only if it has changed."""

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

import duckdb

from pipeline.data.load import sql_text

MOST = 2  # a run has at most twice the usual number of submissions


class Run(NamedTuple):
    """Neighbouring submissions by name; `inputs` are digests of what their rows depend on."""

    names: tuple[str, ...]
    inputs: tuple[str, ...]


def runs(connection: duckdb.DuckDBPyConnection, size: int) -> Iterator[Run]:
    """Runs of about `size` submissions, in order.

    A run ends with a name whose digest is divisible by `size`, so that a new file changes one run,
    and rarely the next one.
    """
    first = 0
    found = connection.execute(sql_text("inputs")).fetchall()
    for count, (name, _) in enumerate(found, 1):
        ends = int.from_bytes(sha256(name.encode()).digest()[:8]) % size == 0
        if ends or count - first == MOST * size or count == len(found):
            yield Run(*zip(*found[first:count], strict=True))
            first = count
