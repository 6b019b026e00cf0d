"""Read the predictions made before results arrived, from the ledger of `make predictions`."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from planner.evidence import ALL_TASKS

LEDGER = Path(__file__).parents[3] / "bench" / "figures" / "ledger.csv"


@cache
def registered(ledger: Path = LEDGER) -> Mapping[Any, Sequence[Mapping[str, Any]]]:
    """The ledger's rows for figures over all tasks, by submission or published source.

    `hit` is whether the measured `truth` is in the predicted interval; it is `None` for early
    predictions, which have no interval.
    """
    rows = pl.read_csv(ledger, infer_schema_length=None).filter(task=ALL_TASKS)
    return rows.with_columns(hit=pl.col("truth").is_between("low", "high")).rows_by_key(
        "source", named=True
    )
