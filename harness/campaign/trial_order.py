"""Orders all trials of a campaign before the first one runs, so that each block pairs the arms."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Literal

from estimates.running_order import running_order
from harness.campaign.model import Campaign, Interleaved, Pause, PlannedTrial

_ALTERNATING = 2


def plan(campaign: Campaign, repeated: Collection[str] = ()) -> tuple[PlannedTrial, ...]:
    """Return a campaign's trials in running order: block by block, prompts shuffled, arms balanced.

    The `repeated` prompts run once more after all others. An arm that needs the target loaded again
    does not alternate prompt by prompt: it runs at the end of one block and at the start of the
    next, so that the target is loaded once per block and no arm is always last.
    """
    trials = running_order(
        [arm.id for arm in campaign.arms if arm.gpu_layers is None],
        [prompt.id for prompt in campaign.suite.prompts],
        blocks=campaign.blocks,
        seed=campaign.seed,
        interleaved=campaign.interleaved,
        alone=[arm.id for arm in campaign.arms if arm.gpu_layers is not None],
        repeated=repeated,
    )
    return tuple(
        PlannedTrial(order=order, block=block, prompt=prompt, arm=arm)
        for order, (block, prompt, arm) in enumerate(trials)
    )


def passes(
    trials: Iterable[PlannedTrial], interleaved: Interleaved
) -> tuple[tuple[PlannedTrial, ...], ...]:
    """Group the trials by arm and block, or by block; engines may alternate between groups."""

    def key(trial: PlannedTrial) -> tuple[int, str]:
        return trial.block, trial.arm if interleaved == "block" else ""

    return tuple(tuple(turn) for _, turn in groupby(trials, key))


def engine_orders(
    campaign: Campaign, engines: Sequence[str], after: Pause = "pass"
) -> dict[int, tuple[str, ...]]:
    """Return the order of the engines in each pass, by the `order` of the pass's first trial.

    Every arm has each order the same number of times, in a sequence drawn from the seed, so that
    temporary disturbances favour no engine. If `after` is "answer", the engines alternate prompt by
    prompt: every trial has an entry, and the order is reversed from one prompt to the next.
    """
    drawn = {
        arm.id: [
            engine
            for _, _, engine in running_order(
                engines, [""], blocks=campaign.blocks, seed=campaign.seed + n, interleaved="block"
            )
        ]
        for n, arm in enumerate(campaign.arms)
    }
    count = len(engines)
    orders: dict[int, tuple[str, ...]] = {}
    for turn in passes(plan(campaign), campaign.interleaved):
        first = tuple(drawn[turn[0].arm][count * turn[0].block :][:count])
        for n, trial in enumerate(turn[:1] if after == "pass" else turn):
            orders[trial.order] = first[::-1] if n % 2 else first
    return orders


def order_name(arms: int) -> Literal["sequential", "abba", "latin-square"]:
    """Return the name, in the file format, of the order in which this many arms take turns."""
    if arms < _ALTERNATING:
        return "sequential"
    return "abba" if arms == _ALTERNATING else "latin-square"
