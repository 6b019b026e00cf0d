"""Compute the running order of a campaign from its seed, prompts, arms and blocks.

The rows of a balanced Latin square (Williams 1949; AB and BA for two arms) are used equally often:
within a block or, if each arm runs a whole pass, over the blocks. No arm thus always goes first.
The order of the rows is drawn from the seed: with a fixed rotation, periodic slowdowns could always
hit the same arm. The harness plans with this order. A result whose trials ran in a different order
was not measured as it claims.

Prompts whose times disagree between blocks are repeated. Two times for a prompt do not show which
of them was disturbed. With a third time, the median ignores a single disturbed one. On a drifting
machine most prompts disagree, and the repeats become a third block. All arms repeat a prompt
together, so that their times stay paired.
"""

import hashlib
import json
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from estimates.trial_times import ms_per_token
from schemas.submission import Design, Trial


def running_order(  # noqa: PLR0913 - all that a plan depends on
    arms: Sequence[str],
    prompts: Sequence[str],
    *,
    blocks: int,
    seed: int,
    interleaved: Literal["prompt", "block"],
    alone: Sequence[str] = (),
    repeated: Collection[str] = (),
    rotated: bool = False,
) -> Iterator[tuple[int, str, str]]:
    """Yield block, prompt and arm of each trial; arms in `alone` are not interleaved.

    The `repeated` prompts form one more block, for which an order is drawn, too. With `rotated`,
    rows are used in rotation instead of being drawn, as in older files.
    """
    orders = balanced_orders(arms)
    rng = random.Random(seed)  # noqa: S311 - an order, not a secret
    passes: list[list[str]] = []
    for block in range(blocks + bool(repeated)):
        shuffled = [prompt for prompt in prompts if block < blocks or prompt in repeated]
        rng.shuffle(shuffled)
        if rotated:
            rows = [orders[(place + block) % len(orders)] for place in range(len(shuffled))]
        elif interleaved == "prompt":
            rows = _drawn(orders, len(shuffled), rng)
        else:
            passes = passes or _drawn(orders, len(orders), rng)
            rows = [passes.pop()]
        in_turns = list(_interleave(rows, shuffled, interleaved))
        apart = [(prompt, arm) for arm in alone for prompt in shuffled]
        for prompt, arm in (*apart, *in_turns) if block % 2 else (*in_turns, *apart):
            yield block, prompt, arm


def disagreeing(trials: Iterable[Trial], blocks: int, beyond: float | None) -> frozenset[str]:
    """The prompts on which an arm's times differ between the first `blocks` blocks.

    Times differ if the longest exceeds the shortest by more than the share `beyond`.
    """
    if beyond is None:
        return frozenset()
    times: dict[tuple[str, str], list[float]] = {}
    for trial in trials:
        ms = ms_per_token(trial) if trial.block < blocks else None
        if ms is not None:
            times.setdefault((trial.prompt, trial.arm), []).append(ms)
    return frozenset(
        prompt for (prompt, _), own in times.items() if max(own) > (1 + beyond) * min(own)
    )


def plan_digest(arms: Iterable[str], prompts: Iterable[str], design: Design) -> str:
    """SHA-256 of the inputs of a plan: arms, prompts, blocks, seed, interleaving, repeats."""
    interleaved = design.interleaved or "prompt"
    parts = [sorted(arms), sorted(prompts), design.blocks, design.seed or 0, interleaved]
    if design.repeat_beyond is not None:
        parts.append(design.repeat_beyond)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def balanced_orders(arms: Sequence[str]) -> list[list[str]]:
    """Orders in which each arm has every position, and follows every other arm, equally often."""
    count = len(arms)
    zigzag = [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(count)]
    rows = [[arms[(start + offset) % count] for offset in zigzag] for start in range(count)]
    if count % 2 and count > 1:
        rows += [row[::-1] for row in rows]
    return rows


def _drawn(orders: Sequence[list[str]], count: int, rng: random.Random) -> list[list[str]]:
    """Draw `count` orders and shuffle them; the orders' frequencies differ by at most one."""
    rows = [*orders] * (count // len(orders)) + rng.sample(orders, count % len(orders))
    rng.shuffle(rows)
    return rows


def _interleave(
    rows: Sequence[Sequence[str]], prompts: Sequence[str], interleaved: str
) -> Iterator[tuple[str, str]]:
    """Yield prompt and arm of a block's trials: one order of arms per prompt, or a single order."""
    if interleaved == "block":
        yield from ((prompt, arm) for arm in rows[0] for prompt in prompts)
        return
    for prompt, row in zip(prompts, rows, strict=True):
        yield from ((prompt, arm) for arm in row)
