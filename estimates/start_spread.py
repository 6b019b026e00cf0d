"""Estimate how a ratio varies between starts of the servers, from the blocks of a campaign.

Every block starts its own servers. Variation between blocks beyond that within blocks therefore
comes from the start, or from the time at which the pass ran. Let y_pb be the logarithm of the time
ratio of prompt p in block b, of P prompts in B blocks. This is a two-way analysis of variance with
one value per cell (Searle, Casella and McCulloch 1992, Variance Components, 4.2):

    s_b^2 = variance of the block means,  s_e^2 = residual variance (no prompt or block effect)
    spread^2 = s_b^2 - s_e^2 / P,  at least 0
    its 95 % interval: (B - 1) s_b^2 / chi2(B - 1) - s_e^2 / P at both quantiles, at least 0

The interval treats s_e as known, because s_e is estimated from many more values than s_b.
"""

import math
from collections.abc import Sequence
from statistics import fmean

from estimates.intervals import CONFIDENCE, variance
from estimates.model import StartSpread
from estimates.student_t import chi2_quantile

_LEAST = 2  # the minimum of prompts and of blocks
_MOST = 25.0  # as a logarithm: a larger spread shows nothing, and could not be represented


def start_spread(logs: Sequence[Sequence[float]]) -> StartSpread | None:
    """The spread of a ratio between starts, as a share; `logs` has a row for each prompt.

    All rows have the same blocks. `None` with fewer than two prompts or blocks.
    """
    prompts, blocks = len(logs), min(map(len, logs), default=0)
    if prompts < _LEAST or blocks < _LEAST:
        return None
    means = [fmean(column) for column in zip(*logs, strict=True)]
    middle = fmean(means)
    left = math.fsum(
        (value - fmean(row) - mean + middle) ** 2
        for row in logs
        for value, mean in zip(row, means, strict=True)
    )
    own = left / ((prompts - 1) * (blocks - 1)) / prompts
    between, freedom = variance(means), blocks - 1
    tail = (1 - CONFIDENCE) / 2
    high, low = (
        freedom * between / chi2_quantile(freedom, probability) - own
        for probability in (tail, 1 - tail)
    )
    return StartSpread(
        starts=blocks, spread=_share(between - own), low=_share(low), high=_share(high)
    )


def _share(squared: float) -> float:
    """Turn a variance of logarithms into a standard deviation as a share of the ratio."""
    return math.expm1(min(_MOST, math.sqrt(max(0.0, squared))))
