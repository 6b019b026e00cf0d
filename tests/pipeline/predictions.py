"""The site's predictions in Python, which `arithmetic.js` is compared with.

Each part of a prediction comes from the nearest pool that has a vote. The variance of a new voter
is that between voters of the pool's level and method, times 1 + 1/votes; the two parts' variances
add up. The interval is Student's t with the smaller of their degrees of freedom.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.site.advice import (
    Configuration,
    Knowledge,
    KnownModel,
    MeasuredHere,
    PastError,
    Pool,
    depth_word,
    key,
)

NEAREST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceQuery:
    """What a visitor wants to know. Without a device its memory may be known, or nothing."""

    backend: str
    size: int
    task: str
    device: str | None = None
    memory: int | None = None
    model: KnownModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to expect of one choice; without a second voter anywhere near there is no interval."""

    choice: Configuration
    speedup: float
    low: float | None
    high: float | None
    round_cost: float
    tokens_per_round: float
    cost_level: str
    yield_level: str
    cost_votes: int
    yield_votes: int
    nearest: tuple[int, ...]
    error: PastError | None
    measured: MeasuredHere | None

    @property
    def expected(self) -> float:
        """What was measured where exactly this was, else the predicted speedup.

        Of the speedup and the whole request the smaller: what takes longer in all is no gain.
        """
        if self.measured is None:
            return self.speedup
        speedup, *_, request = self.measured
        return speedup if request is None else min(speedup, request)


def answer(known: Knowledge, question: AdviceQuery, choice: Configuration) -> Advice | None:
    """What to expect of one choice; `None` where nothing near was measured.

    Of a mixture of experts nothing is near: what its rounds cost is measured on too few of them.
    """
    if question.model and question.model.mixture:
        return None
    cost = _first(known, _cost_keys(question, choice))
    gain = _first(known, _yield_keys(question, choice))
    if cost is None or gain is None:
        return None
    (cost_level, cost_pool), (yield_level, yield_pool) = cost, gain
    read, doubt = _bytes_cost(question, choice, cost_pool)
    middle = yield_pool.mean - cost_pool.mean - read
    half = _half_width(known, choice, doubt, (cost, gain))
    nearest = dict.fromkeys((*cost_pool.nearest, *yield_pool.nearest))
    return Advice(
        choice=choice,
        speedup=math.exp(middle),
        low=None if half is None else math.exp(middle - half),
        high=None if half is None else math.exp(middle + half),
        round_cost=math.exp(cost_pool.mean + read),
        tokens_per_round=math.exp(yield_pool.mean),
        cost_level=cost_level,
        yield_level=yield_level,
        cost_votes=cost_pool.votes,
        yield_votes=yield_pool.votes,
        nearest=tuple(nearest)[:NEAREST],
        error=known.errors.get(f"{cost_level}|{yield_level}"),
        measured=known.measured.get(_measured_key(question, choice)),
    )


def _cost_keys(question: AdviceQuery, choice: Configuration) -> Iterator[tuple[str, str]]:
    """Level and rest of the key, the nearest first."""
    scope = "all" if choice.scope == "all" else question.task
    how = (choice.method, depth_word(choice.depth), scope)
    model = question.model
    if model and choice.draft:
        pair = key(question.backend, model.target, model.quantisation, choice.draft, *how)
        if question.device:
            yield "cost-pair", key(question.device, pair)
        if choice.draft_label:
            yield "cost-draft", pair
    if question.device:
        yield "cost-device", key(question.device, question.backend, question.size, *how)
    if question.memory:
        yield "cost-memory", key(question.memory, question.backend, question.size, *how)
    yield "cost-backend", key(question.backend, question.size, *how)


def _yield_keys(question: AdviceQuery, choice: Configuration) -> Iterator[tuple[str, str]]:
    how = (choice.method, depth_word(choice.depth), question.task)
    if question.model and choice.draft:
        yield "yield-pair", key(question.model.target, choice.draft, *how)
    yield "yield-method", key(*how)


def _measured_key(question: AdviceQuery, choice: Configuration) -> str:
    if not (question.device and question.model and choice.draft):
        return ""
    model = question.model
    how = (choice.draft, choice.method, depth_word(choice.depth), question.task)
    return key(question.device, question.backend, model.target, model.quantisation, *how)


def _first(known: Knowledge, keys: Iterable[tuple[str, str]]) -> tuple[str, Pool] | None:
    found = ((level, known.pools.get(f"{level}|{rest}")) for level, rest in keys)
    return next(((level, pool) for level, pool in found if pool is not None), None)


def _bytes_cost(question: AdviceQuery, choice: Configuration, pool: Pool) -> tuple[float, float]:
    """Logarithm of what a round's bytes cost in steps of the target, and its variance.

    Known where the sizes of draft and target are; else as in the pool, with a new voter's variance.
    """
    model = question.model
    if model and model.step_bytes and choice.draft_bytes:
        return math.log1p((choice.depth or 0) * choice.draft_bytes / model.step_bytes), 0.0
    return pool.bytes_mean, pool.bytes_variance * (1 + 1 / pool.votes)


def _half_width(
    known: Knowledge, choice: Configuration, variance: float, parts: Iterable[tuple[str, Pool]]
) -> float | None:
    freedom: list[int] = []
    for level, pool in parts:
        if (spread := known.spreads.get(f"{level}|{choice.method}")) is None:
            return None
        variance += spread.variance * (1 + 1 / pool.votes)
        freedom.append(spread.freedom)
    return known.quantiles[str(min(freedom))] * math.sqrt(variance)
