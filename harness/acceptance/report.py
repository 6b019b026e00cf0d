"""Print a draft's tokens per round by task and depth, and its speedup if there is a curve."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.acceptance.rounds import AtDepth
from planner.rounds import Curve
from schemas.codec import Json, encode
from schemas.vocabulary import say


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCounts:
    """Counts for a draft and its target by depth; `drafting_ms` is the time to draft one token."""

    draft: str
    target: str
    answers: int
    tokens: int
    depths: tuple[AtDepth, ...]
    drafting_ms: float | None
    curve: Curve | None

    @property
    def best_depth(self) -> int | None:
        """The depth with the highest speedup; `None` without a curve."""
        known = {each.depth: each.speedup.estimate for each in self.depths if each.speedup}
        return max(known, key=known.__getitem__, default=None)

    @property
    def gains(self) -> bool:
        """Whether at least one depth is expected to be faster than no drafting."""
        return any(each.speedup is not None and each.speedup.estimate > 1 for each in self.depths)


def as_json(counted: DraftCounts) -> dict[str, Json]:
    names = ("draft", "target", "answers", "tokens", "drafting_ms", "best_depth")
    values: dict[str, Json] = {name: getattr(counted, name) for name in names}
    source = counted.curve.source if counted.curve else None
    return {**values, "curve": source, "depths": encode(counted.depths)}


def lines(counted: DraftCounts) -> Iterator[str]:
    """Yield the report for up to ten depths, in lines of at most 80 characters."""
    depths, deepest = counted.depths, counted.depths[-1]
    read = f"{say.count(counted.answers, 'answer')}, {say.count(counted.tokens, 'token')}"
    yield f"{counted.draft} drafting for {counted.target}:"
    yield f"{read}; only the draft read them. Exact for greedy decoding."
    yield ""
    yield _row("longest draft", [str(each.depth) for each in depths])
    yield _row("tokens a round", [f"{each.tokens_per_round.estimate:.2f}" for each in depths])
    for task in deepest.by_task if len(deepest.by_task) > 1 else ():
        yield _row(f"  {task}", [f"{each.by_task[task].estimate:.2f}" for each in depths])
    yield _row("position", [str(each.depth) for each in depths])
    yield _row("accepted", [say.percent(each).replace(" ", "") for each in deepest.acceptance])
    yield _row("of tries", [f"{each:,}" for each in deepest.tried])
    yield ""
    if counted.curve is None:
        yield "To get the speedup at each depth, add the cost of wider steps on a machine:"
        yield "give --curve FILE, or first run `python -m harness probe TARGET` here."
        return
    for each in depths:
        ends = (each.speedup.estimate, each.speedup.low, each.speedup.high) if each.speedup else ()
        best = " (best)" if each.depth == counted.best_depth and counted.gains else ""
        yield f"longest draft {each.depth:2}  {say.speedup(*(ends or (None,) * 3))}{best}"
    if not counted.gains:
        yield "No depth gives a speedup on that machine: do not use this draft."
    yield (
        f"Step times from {counted.curve.source}; {counted.drafting_ms or 0:.3g} ms per drafted "
        "token."
    )


def _row(name: str, values: Sequence[str]) -> str:
    return f"{name:16}" + "".join(f"{value:>6}" for value in values)
