"""Run the SQL files of `sql/` in order, then the checks on what they made.

A file `NN_name.sql` creates the table `name`; its first comment says what one row is. What SQL
cannot do, quantiles and bootstraps, is handed to the one file that reads it (`BEFORE`).
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Literal

import duckdb
import numpy as np
import pyarrow as pa
from msgspec.structs import asdict
from scipy import stats
from scipy.special import stdtrit

from estimates.model import Interval
from pipeline.errors import CheckFailedError
from schemas import vocabulary

INCOMING_INTERVAL = pa.schema(
    {
        "pool": pa.string(),
        "interval_low": pa.float64(),
        "interval_high": pa.float64(),
        "interval_kind": pa.string(),
    }
)


def aggregate(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every table of `sql/`. Raises `CheckFailedError` when a check finds rows."""
    hand_over_vocabulary(connection)
    connection.execute(_text("macros"))
    for name, query in view_queries().items():
        if name in BEFORE:
            BEFORE[name](connection)
        connection.execute(query)
    failures = failed_checks(connection)
    if failures:
        raise CheckFailedError(failures)


def view_queries() -> dict[str, str]:
    """The SQL files by the name of the table that each creates, in the order of their numbers."""
    numbered = (stem for stem in _stems() if stem[0].isdigit())
    return {stem.partition("_")[2]: _text(stem) for stem in numbered}


def check_queries() -> dict[str, str]:
    """The queries that must return no rows, by name."""
    return {stem: _text("checks", stem) for stem in _stems("checks")}


def failed_checks(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The checks that found rows, each with its first row as text."""
    found: dict[str, str] = {}
    for name, query in check_queries().items():
        rows = connection.execute(query).fetchall()
        if rows:
            found[name] = ", ".join(str(value) for value in rows[0])
    return found


def row_meaning(query: str) -> str:
    """What one row is: the comment lines at the head of a query, as one text."""
    lines: list[str] = []
    for line in query.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


def _stems(*folders: str) -> list[str]:
    folder = resources.files("pipeline.data").joinpath("sql", *folders)
    names = sorted(entry.name for entry in folder.iterdir())
    return [name.removesuffix(".sql") for name in names if name.endswith(".sql")]


def _text(*parts: str) -> str:
    *folders, stem = parts
    file = resources.files("pipeline.data").joinpath("sql", *folders, f"{stem}.sql")
    return file.read_text("utf-8")


def _hand_over_intervals(connection: duckdb.DuckDBPyConnection) -> None:
    columns = "pool", "speedup", "interval_low", "interval_high"
    rows = connection.table("vote").select(*columns).fetchall()
    votes = (
        Vote(
            pool=pool,
            speedup=speedup,
            within=None if low is None or high is None else Interval(low=low, high=high),
        )
        for pool, speedup, low, high in rows
    )
    found = [
        {
            "pool": entry.pool,
            "interval_low": entry.interval.low,
            "interval_high": entry.interval.high,
            "interval_kind": entry.kind,
        }
        for entry in pool_intervals(votes)
    ]
    connection.register("incoming_interval", pa.Table.from_pylist(found, INCOMING_INTERVAL))


def t_quantile(freedom: int) -> float:
    """How many standard deviations a 95 % interval reaches either way, by degrees of freedom."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _hand_over_t_quantiles(connection: duckdb.DuckDBPyConnection) -> None:
    (largest,) = connection.table("advice_spread").aggregate("max(freedom)").fetchall()[0]
    freedom = np.arange(1, (largest or 0) + 1)
    quantiles = stdtrit(freedom, (1 + CONFIDENCE) / 2)
    table = pa.table({"freedom": pa.array(freedom, pa.int64()), "quantile": pa.array(quantiles)})
    connection.register("incoming_t_quantile", table)


BEFORE: Mapping[str, Callable[[duckdb.DuckDBPyConnection], None]] = {
    "pool_interval": _hand_over_intervals,
    "advice_score": _hand_over_t_quantiles,
}


TEXT, YES_NO = pa.string(), pa.bool_()
NAMED = {"id": TEXT, "label": TEXT, "position": pa.int32()}
TABLES: Mapping[str, pa.Schema] = {
    "vocabulary_method": pa.schema({**NAMED, "drafts": YES_NO, "every_round": YES_NO}),
    "vocabulary_task": pa.schema(NAMED),
    "vocabulary_verdict": pa.schema({"id": TEXT, "word": TEXT}),
    "vocabulary_size": pa.schema({**NAMED, "below": pa.int64(), "unknown": YES_NO}),
    "vocabulary_runner": pa.schema({"id": TEXT, "engine_label": TEXT, "usual": YES_NO}),
    "vocabulary_bound": pa.schema({"helps_above": pa.float64(), "hurts_below": pa.float64()}),
}


def hand_over_vocabulary(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables of `TABLES`, one row per entry with its `position` in the list."""
    for name, schema in TABLES.items():
        rows = [{"position": position, **row} for position, row in enumerate(_rows()[name])]
        connection.from_arrow(pa.Table.from_pylist(rows, schema)).create(name)


def _rows() -> dict[str, Iterable[dict[str, object]]]:
    overall = {"id": "all", "label": vocabulary.ALL_TASKS}
    own = {"id": "own", "label": vocabulary.OWN_TASKS}
    return {
        "vocabulary_method": map(asdict, vocabulary.METHODS.values()),
        "vocabulary_task": [overall, *map(asdict, vocabulary.TASKS.values()), own],
        "vocabulary_verdict": map(asdict, vocabulary.VERDICTS.values()),
        "vocabulary_size": map(asdict, vocabulary.SIZES.values()),
        "vocabulary_runner": (
            {**asdict(runner), "usual": runner.id == vocabulary.DEFAULT_RUNNER}
            for runner in vocabulary.RUNNERS.values()
        ),
        "vocabulary_bound": [
            {"helps_above": vocabulary.HELPS_ABOVE, "hurts_below": vocabulary.HURTS_BELOW}
        ],
    }


IntervalKind = Literal["within", "t", "bca", "percentile"]

CONFIDENCE = 0.95
BOOTSTRAP_VOTES = 8
RESAMPLES = 9999
SEED = 20261121  # any fixed number: the same votes must give the same bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One contributor on one machine in one pool; the interval is that of its own evidence."""

    pool: str
    speedup: float
    within: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolInterval:
    """The 95 % interval of one pool and how it was found."""

    pool: str
    interval: Interval
    kind: IntervalKind


def pool_intervals(votes: Iterable[Vote]) -> Iterator[PoolInterval]:
    """One interval per pool that allows one; `votes` come sorted by pool."""
    for pool, group in groupby(votes, key=lambda vote: vote.pool):
        found = _interval(tuple(group))
        if found is not None:
            yield PoolInterval(pool=pool, interval=found[0], kind=found[1])


def _interval(votes: tuple[Vote, ...]) -> tuple[Interval, IntervalKind] | None:
    if len(votes) == 1:
        within = votes[0].within
        return None if within is None else (within, "within")
    logs = np.log([vote.speedup for vote in votes])
    if len(votes) < BOOTSTRAP_VOTES:
        return _t_interval(logs), "t"
    return _bootstrap_interval(logs)


def _t_interval(logs: np.ndarray) -> Interval:
    centre = float(np.mean(logs))
    spread = float(np.std(logs, ddof=1)) / math.sqrt(len(logs))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1)) * spread
    return Interval(low=math.exp(centre - half), high=math.exp(centre + half))


def _bootstrap_interval(logs: np.ndarray) -> tuple[Interval, IntervalKind]:
    kind: IntervalKind = "bca"
    low, high = _bootstrap(logs, "BCa")
    if not (math.isfinite(low) and math.isfinite(high)):
        kind = "percentile"
        low, high = _bootstrap(logs, "percentile")
    return Interval(low=math.exp(low), high=math.exp(high)), kind


def _bootstrap(logs: np.ndarray, method: str) -> tuple[float, float]:
    """The bounds, not a number where the method is undefined for these votes."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):  # the caller looks at the NaN
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (logs,),
            np.median,
            confidence_level=CONFIDENCE,
            n_resamples=RESAMPLES,
            method=method,
            rng=np.random.default_rng(SEED),
        ).confidence_interval
    return float(found.low), float(found.high)
