"""Compute quantiles that SQL lacks, as rows for the queries that use them."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from scipy.special import bdtr

from estimates.best_of_several import EXACT, choice_factor
from estimates.intervals import CONFIDENCE, t_reach


def t_quantiles(freedoms: Iterable[int]) -> pa.Table:
    """The half-width of a 95 % interval in standard errors, by degrees of freedom."""
    rows = [{"freedom": freedom, "quantile": t_reach(freedom)} for freedom in sorted(freedoms)]
    return pa.Table.from_pylist(rows, pa.schema({"freedom": pa.int64(), "quantile": pa.float64()}))


def median_positions(counts: Iterable[int]) -> pa.Table:
    """The position (from 1) in a sorted sample at which its median's 95 % interval begins.

    A position of 2.4 is two fifths of the way from the second value to the third. The position is
    exact for any distribution, apart from the interpolation (Hettmansperger and Sheather 1986,
    Statistics & Probability Letters 4, 75-79).
    """
    rows = [{"votes": count, "position": _median_position(count)} for count in sorted(counts)]
    return pa.Table.from_pylist(rows, pa.schema({"votes": pa.int64(), "position": pa.float64()}))


def _median_position(count: int) -> float:
    below = bdtr(np.arange(count // 2 + 1), count, 0.5)
    rank = int(np.searchsorted(below, (1 - CONFIDENCE) / 2, side="right"))
    wider, narrower = 1 - 2 * below[rank - 1], 1 - 2 * below[rank]
    part = (wider - CONFIDENCE) / (wider - narrower)
    return rank + float((count - rank) * part / (rank + (count - 2 * rank) * part))


def choice_factors() -> list[dict[str, object]]:
    """The factors on the bound if the best of several figures is chosen (`best_of_several`)."""
    beyond = {n * 10**zeros for zeros in range(1, 6) for n in range(10, 100)}
    listed = sorted({*range(1, EXACT + 1), *beyond})
    return [{"choices": each, "factor": choice_factor(each)} for each in listed]
