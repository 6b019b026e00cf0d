"""How many standard deviations wide is a 95 % interval? Student's t by degrees of freedom."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
from scipy.special import stdtrit

CONFIDENCE = 0.95


def reach(freedom: int) -> float:
    """Standard deviations from the middle to either end."""
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def hand_over_reach(connection: duckdb.DuckDBPyConnection) -> None:
    """Give SQL the table `incoming_reach`: one row per degrees of freedom that occur."""
    (largest,) = connection.table("advice_spread").aggregate("max(freedom)").fetchall()[0]
    freedom = np.arange(1, (largest or 0) + 1)
    values = stdtrit(freedom, (1 + CONFIDENCE) / 2)
    table = pa.table({"freedom": pa.array(freedom, pa.int64()), "reach": pa.array(values)})
    connection.register("incoming_reach", table)
