"""Print what a draft would get: tokens a round by task and depth, and the speedup with a curve."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from harness.acceptance.pair import Pair
from harness.acceptance.pricing import Prices
from harness.acceptance.rounds import AtDepth
from schemas.codec import Json, encode
from schemas.vocabulary import say

_NAME, _COLUMN = 16, 6
_ALL = "all tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """All that was counted of a pair; `drafting_ms` is what a drafted token takes, if known."""

    pair: Pair
    answers: int
    tokens: int
    depths: tuple[AtDepth, ...]
    drafting_ms: float | None = None
    prices: Prices | None = None

    @property
    def best(self) -> AtDepth | None:
        """The depth with the highest speedup, where a curve tells it."""
        known = [each for each in self.depths if each.speedup]
        return max(
            known, key=lambda each: each.speedup.estimate if each.speedup else 0, default=None
        )


def as_json(counted: Counted) -> dict[str, Json]:
    best = counted.best
    return {
        "target": counted.pair.target_name,
        "draft": f"{counted.pair.draft.name} {counted.pair.draft.quantisation}",
        "answers": counted.answers,
        "tokens": counted.tokens,
        "drafting_ms": counted.drafting_ms,
        "curve": counted.prices.curve.source if counted.prices else None,
        "best_depth": best.depth if best else None,
        "depths": [cast("dict[str, Json]", encode(each)) for each in counted.depths],
    }


def lines(counted: Counted) -> Iterator[str]:
    """The report as lines of at most 80 characters, for up to eight depths."""
    draft = counted.pair.draft
    yield f"{draft.name} {draft.quantisation} drafting for {counted.pair.target_name}:"
    yield (
        f"{say.count(counted.answers, 'greedy answer')} with {say.count(counted.tokens, 'token')}, "
        "read by the draft alone."
    )
    yield ""
    depths = counted.depths
    yield _row("longest draft", [str(each.depth) for each in depths])
    yield _row("tokens a round", [f"{each.tokens_per_round.estimate:.2f}" for each in depths])
    tasks = depths[-1].by_task
    for task in tasks if len(tasks) > 1 else ():
        yield _row(f"  {task}", [f"{each.by_task[task].estimate:.2f}" for each in depths])
    yield _row("position", [str(each.depth) for each in depths])
    deepest = depths[-1]
    yield _row("accepted", [_share(each) for each in deepest.acceptance])
    yield _row("of tries", [f"{each:,}" for each in deepest.tried])
    yield ""
    yield from _speed(counted)


def _speed(counted: Counted) -> Iterator[str]:
    """The speedup of each depth, or how to get it."""
    best, prices = counted.best, counted.prices
    if best is None or prices is None:
        yield "With what a wider step costs on a machine, this gives the speedup of each depth:"
        yield "--curve FILE, or `python -m harness probe TARGET` on this machine first."
        return
    for each in counted.depths:
        found = each.speedup
        words = say.speedup(found.estimate, found.low, found.high) if found else say.UNKNOWN
        name = f"longest draft {each.depth}"
        yield f"{name:{_NAME}} {words}" + (" (best)" if each is best else "")
    yield ""
    yield f"Steps by {prices.curve.source}; a drafted token takes {counted.drafting_ms:.3g} ms."
    if prices.elsewhere:
        yield (
            f"The draft was timed here and the curve on {prices.elsewhere}: give the --drafting-ms "
            "of that machine."
        )


def _row(name: str, values: Sequence[str]) -> str:
    return f"{name:{_NAME}}" + "".join(f"{value:>{_COLUMN}}" for value in values)


def _share(chance: float | None) -> str:
    return say.UNKNOWN if chance is None else say.percent(chance).replace(" ", "")
