"""How often would chance alone give such a correlation, or counts so uneven?

The same as `spearmanr` and `chisquare` of `scipy.stats`, whose import would take longer than most
commands of the harness.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, stdtr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists of one length, neither of them constant."""
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def p_of_rank(correlation: float, independent: int) -> float:
    """Two-sided p of a rank correlation over so many independent values, by Student's t."""
    if abs(correlation) >= 1:
        return 0.0
    freedom = independent - 1
    statistic = abs(correlation) * math.sqrt(freedom / (1 - correlation**2))
    return float(2 * stdtr(freedom, -statistic))


def p_of_even(counts: Sequence[int]) -> float:
    """P of Pearson's chi-square test that all counts have the same expectation."""
    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    return float(chdtrc(len(counts) - 1, statistic))


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)
