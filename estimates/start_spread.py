"""How far a ratio moves from one start of the servers to the next, by the blocks of a campaign.

Every block has servers of its own, so what differs between blocks and not within them came with a
start, or with the time of the pass. With y_pb the logarithm of the time ratio of prompt p in block
b, of P prompts in B blocks, this is the analysis of variance of two ways with one value a cell
(Searle, Casella and McCulloch 1992, Variance Components, 4.2):

    s_b^2 = variance of the means of the blocks,  s_e^2 = variance of what prompt and block leave
    spread^2 = s_b^2 - s_e^2 / P,  at least 0
    its 95 % interval: (B - 1) s_b^2 / chi2(B - 1) - s_e^2 / P at both quantiles, at least 0

The second takes s_e as known, of which many more values tell than of s_b.
"""

import math
from collections.abc import Sequence
from statistics import fmean

from estimates.intervals import CONFIDENCE, variance
from estimates.model import StartSpread
from estimates.student_t import chi2_quantile

_LEAST = 2  # prompts and blocks
_MOST = 25.0  # as a logarithm: what is more says nothing, and could not be written down


def start_spread(logs: Sequence[Sequence[float]]) -> StartSpread | None:
    """The spread of a ratio from start to start, as a share; a row of logarithms for each prompt.

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
    """A variance of logarithms as a standard deviation, as a share of the ratio."""
    return math.expm1(min(_MOST, math.sqrt(max(0.0, squared))))
