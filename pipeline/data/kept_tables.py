"""Keep the tables whose rows each need a single submission, for the next build.

They are in one DuckDB file of the cache, which is named by a digest of its bytes and of the code: a
file that a killed build left behind, that is damaged or that other code wrote is not read.
"""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Self

import duckdb

from pipeline.cache import Cache, own_digest
from pipeline.data.aggregate import own_queries


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTables:
    """The tables of the last build: those to copy, their outdated rows, and what they lack.

    `missing` has the submissions to load, which have no rows in the file `last` or outdated ones,
    with their keys.
    """

    cache: Cache
    folder: Path
    last: Path | None
    outdated: tuple[str, ...]
    missing: Mapping[str, str]

    @classmethod
    def find(cls, cache: Cache, folder: Path, keys: Mapping[str, str]) -> Self:
        """The tables to keep; `keys` has a digest of all that decides a submission's rows."""
        whole = (path for path in cache.databases() if path.name == _named(path))
        known: dict[str, str] = {}
        if last := next(whole, None):
            with duckdb.connect(str(last), read_only=True) as connection:
                known = dict(connection.sql("select submission, key from loaded").fetchall())
        return cls(
            cache=cache,
            folder=folder,
            last=last,
            outdated=tuple(name for name, key in known.items() if keys.get(name) != key),
            missing={name: key for name, key in keys.items() if known.get(name) != key},
        )

    def fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Add the loaded submissions to the tables, keep these, and attach them to be read."""
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / f"{token_hex(8)}.duckdb"
        if self.last:
            shutil.copyfile(self.last, new)
        connection.execute("attach $1 as kept", [str(new)])
        connection.execute("set search_path = 'kept,memory'")
        for name, query in own_queries().items():
            if self.last:
                stale = f"delete from {name} where list_contains($1, submission)"  # noqa: S608 - our own name
                connection.execute(stale, [self.outdated])
            made = f"create table {name} as"
            connection.execute(
                query.replace(made, f"insert into {name}", 1) if self.last else query
            )
        connection.execute("drop table submission_document; checkpoint kept")
        connection.execute("use memory; detach kept")
        path = new.replace(new.with_name(_named(new)))
        self.cache.used.add(path)
        connection.execute("attach $1 as kept (read_only)", [str(path)])
        connection.execute("set search_path = 'memory,kept'")


def _named(path: Path) -> str:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.sha256(own_digest().encode()))
    return f"{digest.hexdigest()[:32]}.duckdb"
