"""What a figure may claim that was chosen as the best of several.

The more figures were looked at, the likelier one of them is high by luck. Each of `choices` figures
may therefore exceed its lower bound in a share of ERROR / choices of cases only (Bonferroni), so
that one claim is a false gain in at most 2 % of worlds in which nothing gains. The bound moves away
from the figure by the quotient of two quantiles of Student's t distribution, with the 7 degrees of
freedom of a task of eight prompts: the normal distribution's tails are too light for so few.
`python -m bench.choices` measures the share of false gains at every place that picks.
"""

from dataclasses import replace
from functools import cache

from estimates.intervals import CONFIDENCE
from estimates.model import Interval
from estimates.student_t import t_quantile

ERROR = 0.02
FREEDOM = 7
# Above this many, choices count in steps of two digits: 123 as 130.
EXACT = 100


@cache
def choice_factor(choices: int, freedom: float = FREEDOM) -> float:
    """How many times as far the lower bound lies below a figure that is the best of so many.

    `freedom` are the degrees of freedom of its interval, where they are known to be fewer.
    """
    if choices <= 1:
        return 1.0
    choices = counted(choices)
    alone = t_quantile(freedom, (1 + CONFIDENCE) / 2)
    return t_quantile(freedom, 1 - ERROR / choices) / alone


def counted(choices: int) -> int:
    """The number of choices, rounded up to two digits if it is above `EXACT`."""
    step = 10 ** max(0, len(str(choices - 1)) - 2) if choices > EXACT else 1
    return -(-choices // step) * step


def corrected(
    interval: Interval, speedup: float, choices: int, prompts: int = FREEDOM + 1
) -> Interval:
    """The interval of the best of `choices` figures: its lower bound allows for the choice.

    With few `prompts` it is farther away. The upper bound stays: choosing the highest does not make
    a figure too low.
    """
    freedom = max(1, min(FREEDOM, prompts - 1))
    low = speedup * (interval.low / speedup) ** choice_factor(choices, freedom)
    return replace(interval, low=min(interval.low, low))
