"""The vocabulary as tables: SQL reads bounds, names and orders from them."""

from collections.abc import Iterable, Mapping

import duckdb
import pyarrow as pa
from msgspec.structs import asdict

from schemas import vocabulary

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
