"""What speedup is to be expected? log speedup = log tokens per round - log round cost.

Each part comes from the nearest pool that has a vote. The variance of a new voter is that between
voters of the pool's level and method, times 1 + 1/votes; the two parts' variances add up. The
interval is Student's t with the smaller of their degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from pipeline.site.advice.model import Advice, Choice, Knowledge, Pool, Question, Spread

NEAREST = 3


def answers(known: Knowledge, question: Question) -> tuple[Advice, ...]:
    """What is to be expected of every choice that something near is known about, best first."""
    found = (answer(known, question, choice) for choice in choices(known, question))
    return tuple(
        sorted((each for each in found if each is not None), key=lambda each: -each.speedup)
    )


def choices(known: Knowledge, question: Question) -> Iterator[Choice]:
    """The pairs measured with this target, and for other methods and depths the method alone."""
    target = question.model.target if question.model else None
    pairs = [choice for choice in known.choices if target in choice.targets]
    covered = {(choice.method, choice.depth) for choice in pairs}
    yield from pairs
    for choice in known.choices:
        if choice.draft is None and (choice.method, choice.depth) not in covered:
            yield choice


def answer(known: Knowledge, question: Question, choice: Choice) -> Advice | None:
    """What to expect of one choice; `None` where nothing near was measured."""
    cost = _first(known, _cost_keys(question, choice))
    gain = _first(known, _yield_keys(question, choice))
    if cost is None or gain is None:
        return None
    (cost_level, cost_pool), (yield_level, yield_pool) = cost, gain
    middle = yield_pool.mean - cost_pool.mean
    half = _half_width(
        known,
        (known.spreads.get(f"{cost_level}|{choice.method}"), cost_pool),
        (known.spreads.get(f"{yield_level}|{choice.method}"), yield_pool),
    )
    nearest = dict.fromkeys((*cost_pool.nearest, *yield_pool.nearest))
    return Advice(
        choice=choice,
        speedup=math.exp(middle),
        low=None if half is None else math.exp(middle - half),
        high=None if half is None else math.exp(middle + half),
        round_cost=math.exp(cost_pool.mean),
        tokens_per_round=math.exp(yield_pool.mean),
        cost_level=cost_level,
        yield_level=yield_level,
        cost_votes=cost_pool.votes,
        yield_votes=yield_pool.votes,
        nearest=tuple(nearest)[:NEAREST],
        error=known.errors.get(f"{cost_level}|{yield_level}"),
        measured=known.measured.get(_measured_key(question, choice)),
    )


def key(*words: object) -> str:
    """Words joined by `|`; what is not known is left out, as SQL's `concat_ws` does."""
    return "|".join(str(word) for word in words if word is not None)


def depth_word(depth: int | None) -> str | None:
    """A depth as keys hold it: `n4`."""
    return None if depth is None else f"n{depth}"


def _cost_keys(question: Question, choice: Choice) -> Iterator[tuple[str, str]]:
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


def _yield_keys(question: Question, choice: Choice) -> Iterator[tuple[str, str]]:
    how = (choice.method, depth_word(choice.depth), question.task)
    if question.model and choice.draft:
        yield "yield-pair", key(question.model.target, choice.draft, *how)
    yield "yield-method", key(*how)


def _measured_key(question: Question, choice: Choice) -> str:
    if not (question.device and question.model and choice.draft):
        return ""
    model = question.model
    how = (choice.draft, choice.method, depth_word(choice.depth), question.task)
    return key(question.device, question.backend, model.target, model.quantisation, *how)


def _first(known: Knowledge, keys: Iterable[tuple[str, str]]) -> tuple[str, Pool] | None:
    for level, rest in keys:
        pool = known.pools.get(f"{level}|{rest}")
        if pool is not None:
            return level, pool
    return None


def _half_width(known: Knowledge, *parts: tuple[Spread | None, Pool]) -> float | None:
    variance = 0.0
    freedom: list[int] = []
    for spread, pool in parts:
        if spread is None:
            return None
        variance += spread.variance * (1 + 1 / pool.votes)
        freedom.append(spread.freedom)
    return known.reaches[str(min(freedom))] * math.sqrt(variance)
