"""What does the order of the trials do on a machine whose speed comes and goes?

`python -m tests.bench.orders` prints, for drifts with a period of 2 to 8 trials and for a quiet
machine, how often the intervals of a campaign contain the truth and how wide they are: with the
rows taken by turns (before) and drawn (now), and over all tasks from the spread within tasks
(before) and between them (now); for one task without (before) and with (now) the least width that
its repetitions allow.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from estimates.intervals import CONFIDENCE, t_quantile
from estimates.pairing import NORMAL_95
from estimates.running_order import running_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Logs = NDArray[np.float64]

TASKS, PER_TASK, BLOCKS = 8, 4, 3
PROMPTS = [str(number) for number in range(TASKS * PER_TASK)]
CAMPAIGNS = 1000
# A slow trial takes 30 % longer than a fast one; prompts differ by 5 %, repetitions by 2 %.
DRIFT, SPREAD, NOISE = 0.30, 0.05, 0.02
PERIODS = (0, 2, 3, 4, 5, 6, 7, 8)
OFFSET = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Share of campaigns whose interval contains the truth, and the median half-width."""

    all_tasks: float
    one_task: float
    half_width: float
    half_width_of_task: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.orders", description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="per scenario")
    chosen = parser.parse_args(arguments)
    for arms in (2, 3):
        sys.stdout.write("\n".join(table(arms, chosen.campaigns)) + "\n\n")
    sys.stdout.write("\n".join(offsets(chosen.campaigns)) + "\n")


def table(arms: int, campaigns: int) -> Iterator[str]:
    """Coverage and half-widths by the period of the drift."""
    heads = ("all tasks", "one task", "half-width", "of a task")
    yield f"{arms} arms".ljust(22) + "".join(
        f"{f'{head}, {when}':>21}" for head in heads for when in ("before", "now")
    )
    for period in PERIODS:
        before, now = (
            simulate(arms, period, campaigns, by_turns=by_turns) for by_turns in (True, False)
        )
        values = (
            *(before.all_tasks, now.all_tasks, before.one_task, now.one_task),
            *(before.half_width, now.half_width),
            *(before.half_width_of_task, now.half_width_of_task),
        )
        name = f"drift of {period} trials" if period else "quiet"
        yield name.ljust(22) + "".join(f"{value:>21.3f}" for value in values)


def offsets(campaigns: int) -> Iterator[str]:
    """A task's prompts share an offset: what the interval over all tasks makes of it."""
    yield f"{'offset of each task':22}{'within tasks, before':>24}{'between tasks, now':>24}"
    for offset in (0.0, 0.02, 0.05, OFFSET):
        rng = np.random.default_rng(20261121)
        shape = (campaigns, TASKS)
        logs = rng.normal(scale=offset, size=(*shape, 1)) + rng.normal(
            scale=SPREAD, size=(*shape, PER_TASK)
        )
        shares = [
            np.mean(np.abs(logs.mean(axis=(1, 2))) <= interval(logs))
            for interval in (_within, _between)
        ]
        yield f"{offset:<22.2f}" + "".join(f"{share:>24.3f}" for share in shares)


def simulate(arms: int, period: int, campaigns: int, *, by_turns: bool) -> Found:
    """Campaigns with a baseline and arms that are as fast: the first arm's intervals."""
    rng = np.random.default_rng(20261121)
    drawn = [_campaign(rng, arms, period, by_turns=by_turns) for _ in range(campaigns)]
    logs = np.stack([each for each, _ in drawn])
    over = _within(logs) if by_turns else _between(logs)
    task = logs.std(axis=2, ddof=1) / math.sqrt(PER_TASK) * _quantile(PER_TASK - 1)
    if not by_turns:
        repeats = np.array([repeat for _, repeat in drawn])
        task = np.maximum(task, NORMAL_95 * repeats[:, None] / math.sqrt(PER_TASK))
    return Found(
        all_tasks=float(np.mean(np.abs(logs.mean(axis=(1, 2))) <= over)),
        one_task=float(np.mean(np.abs(logs.mean(axis=2)) <= task)),
        half_width=float(np.median(np.expm1(over))),
        half_width_of_task=float(np.median(np.expm1(task))),
    )


def _campaign(
    rng: np.random.Generator, arms: int, period: int, *, by_turns: bool
) -> tuple[Logs, float]:
    """Log ratios of a campaign by task and prompt (the median over the blocks); and its repeats.

    The latter is how far one block lies from its prompt: a standard deviation over all prompts.
    """
    names = [str(arm) for arm in range(arms)]
    seed = int(rng.integers(2**31))
    order = list(
        running_order(
            names, PROMPTS, blocks=BLOCKS, seed=seed, interleaved="prompt", by_turns=by_turns
        )
    )
    places = np.arange(len(order))
    wave = np.sin(2 * math.pi * (places / (period or 1) + rng.random())) if period else 0 * places
    times = np.log1p(DRIFT / 2 * wave) + rng.normal(scale=NOISE, size=len(order))
    table = np.empty((BLOCKS, len(PROMPTS), arms))
    for (block, prompt, arm), ms in zip(order, times, strict=True):
        table[block, int(prompt), int(arm)] = ms
    by_block = table[:, :, 0] - table[:, :, 1]
    ratios = np.median(by_block, axis=0)
    own = rng.normal(scale=SPREAD, size=len(PROMPTS))
    logs = np.asarray((ratios + own).reshape(TASKS, PER_TASK))
    return logs, math.sqrt(by_block.var(axis=0, ddof=1).mean())


def _between(logs: Logs) -> Logs:
    """Half-width over all tasks from the tasks' means."""
    return np.asarray(
        logs.mean(axis=2).std(axis=1, ddof=1) / math.sqrt(TASKS) * _quantile(TASKS - 1)
    )


def _within(logs: Logs) -> Logs:
    """Half-width over all tasks from the spread within tasks (Welch, Satterthwaite): before."""
    terms = logs.var(axis=2, ddof=1) / PER_TASK / TASKS**2
    total = terms.sum(axis=1)
    freedom = total**2 / (terms**2 / (PER_TASK - 1)).sum(axis=1)
    return np.sqrt(total) * np.array([_quantile(each) for each in freedom])


def _quantile(freedom: float) -> float:
    return t_quantile(freedom, (1 + CONFIDENCE) / 2)


if __name__ == "__main__":
    main()
