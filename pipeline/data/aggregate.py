"""Run the SQL files of `sql/` in order, then the checks on the tables that they create."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from itertools import takewhile

import duckdb
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import asdict

from pipeline.data.build_changes import build_changes
from pipeline.data.load import sql_text
from pipeline.data.quantiles import choice_factors, median_positions, t_quantiles
from pipeline.errors import CheckFailedError
from planner.names import read_model
from planner.sized_shapes import shape_named
from schemas import vocabulary

# Degrees of freedom of a pool: 6 for its votes, 4 for the prior, at most 20 for other pools.
MOST_FREEDOM = 6 + 4 + 20 + 1
# With at least this many votes, the interval of a pool is the interval of a median.
MANY_VOTES = 8


def aggregate(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every table of `sql/` that is not kept. Raises `CheckFailedError` if a check fails."""
    prepare(connection)
    known = set(connection.sql("from duckdb_tables()").project("table_name").fetchall())
    for name, query in view_queries().items():
        if (name,) not in known:
            make(connection, name, query)
    failures = failed_checks(connection)
    if failures:
        raise CheckFailedError(failures)


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    hand_over_vocabulary(connection)
    connection.register("input_t_quantile", t_quantiles(()))
    connection.execute(sql_text("macros"))


def make(connection: duckdb.DuckDBPyConnection, name: str, query: str) -> None:
    """Create one table from its query; the tables that the query reads must already exist."""
    if name in BEFORE:
        BEFORE[name](connection)
    connection.execute(query)


@cache
def view_queries() -> dict[str, str]:
    """The queries of `sql/` in numerical order, by the name of the table that each creates."""
    numbered = (stem for stem in _stems() if stem[0].isdigit())
    return {stem.partition("_")[2]: sql_text(stem) for stem in numbered}


def own_queries() -> dict[str, str]:
    """Those of the queries whose rows each depend on a single submission."""
    return {name: each for name, each in view_queries().items() if "submission_document" in each}


def check_queries() -> dict[str, str]:
    """The queries that check the tables, by name; none of them may return a row."""
    return {stem: sql_text(f"checks/{stem}") for stem in _stems("checks")}


def failed_checks(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """For each check that found rows: its name, and the first of these rows as a string."""
    found: dict[str, str] = {}
    for name, query in check_queries().items():
        rows = connection.execute(query).fetchall()
        if rows:
            found[name] = ", ".join(str(value) for value in rows[0])
    return found


def row_meaning(table: str) -> str:
    """The meaning of a table's row: the comment lines at the top of its query."""
    lines = takewhile(lambda line: line.startswith("--"), view_queries()[table].splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines)


def _stems(*folders: str) -> list[str]:
    folder = resources.files("pipeline.data").joinpath("sql", *folders)
    names = sorted(entry.name for entry in folder.iterdir())
    return [name.removesuffix(".sql") for name in names if name.endswith(".sql")]


def _quantiles_of_votes(connection: duckdb.DuckDBPyConnection) -> None:
    """Register tables for pools' intervals: t quantiles, and where a median's interval begins."""
    counts = connection.sql("select distinct prompts - 1 from vote").fetchall()
    freedoms = {freedom for (freedom,) in counts if freedom} | set(range(1, MOST_FREEDOM))
    connection.register("input_t_quantile", t_quantiles(freedoms))
    sizes = connection.sql("select count(*) as votes from vote group by pool, measure")
    positions = median_positions({votes for (votes,) in sizes.fetchall() if votes >= MANY_VOTES})
    connection.register("input_median", positions)


BEFORE: Mapping[str, Callable[[duckdb.DuckDBPyConnection], None]] = {
    "pool_interval": _quantiles_of_votes,
    "build_step": build_changes,
}


TEXT, YES_NO, WHOLE = pa.string(), pa.bool_(), pa.int64()
NAMED = {"id": TEXT, "label": TEXT, "position": pa.int32()}
BOUNDS = ("helps_above", "hurts_below", "clear_of_one")


def hand_over_vocabulary(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the vocabulary's tables, one row per entry; `position` is the entry's place."""
    words = vocabulary
    overall = {"id": "all", "label": words.ALL_TASKS}
    own = {"id": "own", "label": words.OWN_TASKS}
    bounds = {name: getattr(words, name.upper()) for name in BOUNDS}

    def create(name: str, rows: Iterable[Mapping[str, object]], **columns: pa.DataType) -> None:
        numbered = [{"position": position, **row} for position, row in enumerate(rows)]
        connection.from_arrow(pa.Table.from_pylist(numbered, pa.schema(columns))).create(name)

    def listed(entries: Mapping[str, Struct]) -> Iterable[dict[str, object]]:
        return map(asdict, entries.values())

    of_methods = {"drafts": YES_NO, "every_round": YES_NO, "usual_depth": WHOLE}
    create("vocabulary_method", listed(words.METHODS), **NAMED, **of_methods)
    create("vocabulary_task", (overall, *listed(words.TASKS), own), **NAMED)
    create("vocabulary_verdict", listed(words.VERDICTS), id=TEXT, word=TEXT)
    create("vocabulary_size", listed(words.SIZES), **NAMED, below=WHOLE, unknown=YES_NO)
    create(
        "vocabulary_common_device",
        listed(words.COMMON_DEVICES),
        id=TEXT,
        memory_gib=WHOLE,
        common=WHOLE,
    )
    references = (
        {**asdict(each), "parameters": shape.parameters}
        for each in words.REFERENCE_MODELS.values()
        if (shape := shape_named(read_model(each.preset).slug))
    )
    create("vocabulary_reference_model", references, **NAMED, preset=TEXT, parameters=WHOLE)
    runners = (
        {**each, "usual": each["id"] == words.DEFAULT_RUNNER} for each in listed(words.RUNNERS)
    )
    create("vocabulary_runner", runners, id=TEXT, engine_label=TEXT, usual=YES_NO)
    aliases = ({"id": written, "label": name} for written, name in words.MODEL_NAMES.items())
    create("vocabulary_alias", aliases, id=TEXT, label=TEXT)
    create("choice_factor", choice_factors(), choices=WHOLE, factor=pa.float64())
    create("vocabulary_bound", [bounds], **dict.fromkeys(bounds, pa.float64()))
