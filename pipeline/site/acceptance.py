"""Forecast what published acceptance would gain on a machine: tokens per round over R there.

R belongs to the machine, tokens per round to the model, its method and the task. R at a depth is
the mean over the pairs of models that were measured at it: on this device, else on devices with as
much memory, else through the same backend, whichever has any depth of the curve; with its method if
that was measured there, else with any that drafts in every round. Its error is how much pairs
differ in such a place, that of the tokens how much those differ who measured the same models. Both
variances add up, each for one more vote, and the interval is Student's t with the smaller of their
degrees of freedom.

A test holds `site_src/assets/javascripts/arithmetic.js` to the same figures.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.site.advice import Curve, Knowledge, Pool, Question, depth_word, key

ANY = "any"
EVERY = "all"  # a question about every task
YIELD = "yield-published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What to expect of a published curve at the depth that would be its best.

    The errors are half-widths as shares: 0.1 is a tenth more or less; `None` where nothing says how
    much the factor varies. There is an interval where both are known.
    """

    curve: Curve
    backend: str
    depth: int
    speedup: float
    low: float | None
    high: float | None
    tokens_per_round: float
    tokens_error: float | None
    round_cost: float
    cost_error: float | None
    level: str
    votes: int


def forecasts(known: Knowledge, question: Question) -> tuple[Forecast, ...]:
    """Every curve of the task at its best depth, best first; not those of depths without an R."""
    found = (_best(known, question, each) for each in known.curves if _fits(each, question))
    return tuple(sorted((each for each in found if each), key=lambda each: -each.speedup))


def _fits(curve: Curve, question: Question) -> bool:
    return curve.task is None or question.task in (EVERY, curve.task)


def _best(known: Knowledge, question: Question, curve: Curve) -> Forecast | None:
    """The best depth of those that were measured in the nearest place with any of them."""
    for level, where in _places(question):
        found = [
            _product(known, question, curve, (level, way, pool), (int(depth), tokens))
            for depth, tokens in curve.tokens.items()
            for way, pool in _pool(known, where, curve.method, int(depth))
        ]
        if found:
            return max(found, key=lambda each: (each.speedup, -each.depth))
    return None


def _places(question: Question) -> Iterator[tuple[str, str]]:
    """Level and the beginning of its keys, the nearest first."""
    if question.device is not None:
        yield "round-device", key("round-device", question.device, question.backend)
    if question.memory is not None:
        yield "round-memory", key("round-memory", question.memory, question.backend)
    yield "round-backend", key("round-backend", question.backend)


def _pool(known: Knowledge, where: str, method: str, depth: int) -> Iterator[tuple[str, Pool]]:
    """What a round costs there, of the curve's own method if that is known, else of any."""
    for way in (method, ANY):
        pool = known.pools.get(key(where, way, depth_word(depth)))
        if pool is not None:
            yield way, pool
            return


def _product(
    known: Knowledge,
    question: Question,
    curve: Curve,
    cost: tuple[str, str, Pool],
    gain: tuple[int, float],
) -> Forecast:
    (level, way, pool), (depth, tokens) = cost, gain
    spreads = (known.spreads.get(f"{level}|{way}"), known.spreads.get(f"{YIELD}|{ANY}"))
    parts = tuple(
        None if spread is None else (spread.variance * (1 + 1 / votes), spread.freedom)
        for spread, votes in zip(spreads, (pool.votes, 1), strict=True)
    )
    middle, half = math.log(tokens) - pool.mean, _half_width(known, *parts)
    errors = [_half_width(known, part) for part in parts]
    return Forecast(
        curve=curve,
        backend=question.backend,
        depth=depth,
        speedup=math.exp(middle),
        low=None if half is None else math.exp(middle - half),
        high=None if half is None else math.exp(middle + half),
        tokens_per_round=tokens,
        tokens_error=None if errors[1] is None else math.expm1(errors[1]),
        round_cost=math.exp(pool.mean),
        cost_error=None if errors[0] is None else math.expm1(errors[0]),
        level=level,
        votes=pool.votes,
    )


def _half_width(known: Knowledge, *parts: tuple[float, int] | None) -> float | None:
    """Of the logarithm, from variances with their degrees of freedom; `None` if one is unknown."""
    stated = [part for part in parts if part is not None]
    if len(stated) < len(parts):
        return None
    freedom = min(freedom for _, freedom in stated)
    return known.quantiles[str(freedom)] * math.sqrt(sum(variance for variance, _ in stated))
