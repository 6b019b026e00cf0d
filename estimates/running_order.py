"""The running order of a campaign: what a seed, prompts, arms and blocks give.

The order of the arms alternates (ABBA for two arms, the rows of a balanced Latin square for more;
Williams 1949), so that no arm always goes first. The harness plans with it, and a result whose
trials did not run in it was not measured as it claims.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Literal


def running_order(
    arms: Sequence[str],
    prompts: Sequence[str],
    *,
    blocks: int,
    seed: int,
    interleaved: Literal["prompt", "block"],
    alone: Sequence[str] = (),
) -> Iterator[tuple[int, str, str]]:
    """Block, prompt and arm of each trial. Arms that run `alone` take no turns by prompt."""
    orders = balanced_orders(arms)
    shuffle = random.Random(seed)  # noqa: S311 - an order, not a secret
    for block in range(blocks):
        shuffled = list(prompts)
        shuffle.shuffle(shuffled)
        turns = list(_turns(orders, shuffled, block, interleaved))
        apart = [(prompt, arm) for arm in alone for prompt in shuffled]
        for prompt, arm in (*apart, *turns) if block % 2 else (*turns, *apart):
            yield block, prompt, arm


def balanced_orders(arms: Sequence[str]) -> list[list[str]]:
    """Orders in which each arm has each position, and follows each other arm, equally often."""
    count = len(arms)
    zigzag = [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(count)]
    rows = [[arms[(start + offset) % count] for offset in zigzag] for start in range(count)]
    if count % 2 and count > 1:
        rows += [row[::-1] for row in rows]
    return rows


def _turns(
    orders: Sequence[Sequence[str]], prompts: Sequence[str], block: int, interleaved: str
) -> Iterator[tuple[str, str]]:
    """Prompts and arms of a block in their order."""
    if interleaved == "block":
        yield from ((prompt, arm) for arm in orders[block % len(orders)] for prompt in prompts)
        return
    for position, prompt in enumerate(prompts):
        yield from ((prompt, arm) for arm in orders[(position + block) % len(orders)])
