"""Compute quantiles that SQL cannot compute, as tables that queries join."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from math import comb

import pyarrow as pa

from estimates.intervals import CONFIDENCE, EXACT_CHOICES, choice_factor, t_reach


def t_quantiles(freedoms: Iterable[int]) -> pa.Table:
    """Half-widths of 95 % intervals in standard errors (Student's t), by degrees of freedom."""
    rows = [{"freedom": freedom, "quantile": t_reach(freedom)} for freedom in sorted(freedoms)]
    return pa.Table.from_pylist(rows, pa.schema({"freedom": pa.int64(), "quantile": pa.float64()}))


def median_positions(counts: Iterable[int]) -> pa.Table:
    """A table of where a median's 95 % interval begins in a sorted sample, by sample size.

    Positions count from 1; 2.4 is two fifths of the way from the second value to the third. Apart
    from the interpolation, they are exact for any distribution (Hettmansperger and Sheather 1986,
    Statistics & Probability Letters 4, 75-79).
    """
    rows = [{"votes": count, "position": _median_position(count)} for count in sorted(counts)]
    return pa.Table.from_pylist(rows, pa.schema({"votes": pa.int64(), "position": pa.float64()}))


def _median_position(count: int) -> float:
    heads = accumulate(comb(count, each) for each in range(count // 2 + 1))
    below = [each / 2**count for each in heads]  # exact, unlike a power of 0.5
    rank = bisect_right(below, (1 - CONFIDENCE) / 2)
    wider, narrower = 1 - 2 * below[rank - 1], 1 - 2 * below[rank]
    part = (wider - CONFIDENCE) / (wider - narrower)
    return rank + float((count - rank) * part / (rank + (count - 2 * rank) * part))


def choice_factors() -> list[dict[str, object]]:
    """The factors that move the best figure's lower bound away from it, by number of figures."""
    beyond = {n * 10**zeros for zeros in range(1, 6) for n in range(10, 100)}
    listed = sorted({*range(1, EXACT_CHOICES + 1), *beyond})
    return [{"choices": each, "factor": choice_factor(each)} for each in listed]
