"""Recompute every estimate of a result file, using only the text of the Methodology page.

`python -m bench.recompute FILE...` prints the estimates. This module imports nothing from
`estimates`: a reader of the page would write the same code.
"""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev, variance
from typing import Any

import scipy

from bench.recompute_trials import PairedPrompt, Times, prompts_of

FIXED = ("code", "math", "reasoning", "summarization", "chat", "json", "creative", "translation")
FULL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputedFigure:
    """An arm's figures (steps 3 to 5 of the Methodology page) and their intervals (6 to 11)."""

    arm: str
    task: str | None
    speedup: float
    wall: float
    baseline_tps: float
    tps: float
    tokens_per_round: float | None
    low: float | None
    high: float | None
    whole: float | None
    whole_low: float | None
    whole_high: float | None
    stated: float | None
    pays_from: float | None


def main(paths: list[str]) -> None:
    """Print the figures of some files."""
    for path in paths:
        for each in figures(json.loads(Path(path).read_text("utf-8"))):
            sys.stdout.write(f"{path}: {each}\n")


def figures(document: dict[str, Any]) -> Iterator[RecomputedFigure]:
    """Yield each arm's figures: for each task with a paired prompt, then for all tasks together."""
    suite = list(dict.fromkeys(prompt["task"] for prompt in document["suite"]["prompts"]))
    own = document["tier"] == "imported" and not set(FIXED) <= set(suite)
    for arm in document["arms"]:
        if arm["role"] == "baseline":
            continue
        prompts = list(prompts_of(document, arm))
        every = tuple(suite) if own else FIXED
        for name, tasks in (*((task, (task,)) for task in suite), (None, every)):
            groups = [[each for each in prompts if each.task == task] for task in tasks]
            if all(groups):
                finished = [each for each in prompts if each.blocks]
                yield _figure(document, arm["id"], name, groups, finished)


def _figure(
    document: dict[str, Any],
    arm: str,
    task: str | None,
    groups: list[list[PairedPrompt]],
    prompts: list[PairedPrompt],
) -> RecomputedFigure:
    times = [[each.times for each in group] for group in groups]
    walls = [[each.walls for each in group] for group in groups]
    plain, own = _means(times)
    low, high = _interval(document, times, _ratio(walls), groups, prompts)
    rounds = [[each.rounds for each in group if each.rounds] for group in groups]
    known = [len(each) for each in rounds] == [len(each) for each in groups]
    whole, stated = _request(groups, "times", None), _request(groups, "times", 255)
    bounds: tuple[float | None, float | None] = (None, None)
    if whole:
        by_wall = _ratio(_request(groups, "walls", None))
        bounds = _interval(document, whole, by_wall, groups, prompts)
    return RecomputedFigure(
        arm=arm,
        task=task,
        speedup=plain / own,
        wall=_ratio(walls),
        baseline_tps=1000 / plain,
        tps=1000 / own,
        tokens_per_round=1 / fmean(fmean(each) for each in rounds) if known else None,
        low=low,
        high=high,
        whole=_ratio(whole) if whole else None,
        whole_low=bounds[0],
        whole_high=bounds[1],
        stated=_ratio(stated) if stated else None,
        pays_from=_pays_from(groups, plain, own),
    )


def _means(groups: list[list[Times]]) -> Times:
    """Means of the baseline's and the arm's times: over each task's prompts, then over tasks."""
    plain = fmean(fmean(plain for plain, _ in group) for group in groups)
    return plain, fmean(fmean(own for _, own in group) for group in groups)


def _ratio(groups: list[list[Times]]) -> float:
    plain, own = _means(groups)
    return plain / own


def _request(
    groups: list[list[PairedPrompt]], clock: str, answer: float | None
) -> list[list[Times]]:
    """Both arms' request times, for the measured or the given answer length; empty if unknown."""
    found = []
    for group in groups:
        found.append([])
        for each in group:
            if each.reading is None:
                return []
            per_token, written = getattr(each, clock), answer or each.answer
            found[-1].append(
                (
                    each.reading[0] + written * per_token[0],
                    each.reading[1] + written * per_token[1],
                )
            )
    return found


def _pays_from(groups: list[list[PairedPrompt]], plain: float, own: float) -> float | None:
    """The Methodology page's N*: 1 + extra reading time / time saved per token."""
    reading = [[each.reading for each in group if each.reading] for group in groups]
    if [len(each) for each in reading] != [len(each) for each in groups]:
        return None
    before, after = _means(reading)
    return 1 + (after - before) / (plain - own) if after > before and plain > own else None


def _interval(
    document: dict[str, Any],
    times: list[list[Times]],
    by_wall: float,
    groups: list[list[PairedPrompt]],
    prompts: list[PairedPrompt],
) -> tuple[float | None, float | None]:
    """The interval around the ratio of these times, by steps 6 to 11 of the Methodology page."""
    half_width = _linearised(times)
    by_passes = document["design"].get("interleaved") == "block"
    if half_width is None:
        return None, None
    if not by_passes:
        several = len(groups) > 1
        errors = (
            1 / len(group) ** 2 / (len(each.blocks) if several else 1)
            for group in groups
            for each in group
            if not several or len(each.blocks) > 1
        )
        floor = _repeats(document, prompts) * math.sqrt(sum(errors)) / len(groups)
        half_width = max(half_width, floor)
    if by_passes:
        passes = _passes(document, prompts)
        if passes is None:
            return None, None
        half_width = math.hypot(half_width, passes)
    half_width = math.hypot(half_width, _load(document))
    half_width = math.hypot(half_width, max(each.clock for group in groups for each in group))
    ratio = _ratio(times)
    return (
        min(ratio * math.exp(-half_width), by_wall),
        max(ratio * math.exp(half_width), by_wall),
    )


def _linearised(groups: list[list[Times]]) -> float | None:
    """Half-width of the logarithm of the ratio, from the spread within tasks."""
    plain, own = _means(groups)
    spread = [[(x - plain / own * y) / plain for x, y in group] for group in groups]
    single = [each for each in spread if len(each) == 1]
    others = sorted((each for each in spread if len(each) > 1), key=len)
    if len(single) == 1 and others:
        single.append(others.pop(0))
    if len(single) == 1:
        return None
    parts = [(variance(each) / len(each), len(each) - 1) for each in others]
    if single:
        merged = [value for each in single for value in each]
        parts.append((variance(merged) * sum(1 / len(each) for each in single), len(merged) - 1))
    total = sum(part for part, _ in parts)
    if total == 0:
        return 0.0
    freedom = total**2 / sum(part**2 / (free + 2) for part, free in parts) - 2
    freedom = min(freedom, sum(free for _, free in parts))
    return float(scipy.stats.t.ppf(0.975, freedom)) * math.sqrt(total) / len(groups)


def _repeats(document: dict[str, Any], prompts: list[PairedPrompt]) -> float:
    """Half-width for one prompt from the spread of its blocks, for the lower limit of intervals."""
    spreads = [
        variance([math.log(plain / own) for plain, own in each.blocks.values()])
        for each in prompts
        if len(each.blocks) > 1
    ]
    if not spreads and document["design"].get("order") != "sequential":
        plain = [each.plain for each in sorted(prompts, key=lambda each: each.order)]
        spreads = [(b - a) ** 2 for a, b in pairwise(plain)]
    return 1.96 * math.sqrt(fmean(spreads)) if spreads else 0.0


def _load(document: dict[str, Any]) -> float:
    """Half-width due to other programs, from recorded states of the machine."""
    cores = document["machine"]["cpu"].get("logical_cores") or 1
    threads = min(document["settings"].get("threads") or cores, cores)
    strains = [0.0]
    for shot in document.get("environment") or ():
        before = shot["moment"] == "before"
        used, queue = shot.get("busy_fraction"), shot.get("load_1min", 0.0)
        queued = (queue - (1 if before else threads)) / cores
        strains.append(used if used is not None and used < 0.95 else max(used or 0.0, queued))
        shares = (shot.get("cpu_pressure") if before else None, shot.get("steal_fraction"))
        strains += [share / max(0.1, 1 - share) for share in shares if share is not None]
    return min(0.25, max(0.0, 0.12 * (max(strains) - 0.15)))


def _passes(document: dict[str, Any], prompts: list[PairedPrompt]) -> float | None:
    """Half-width due to disturbed passes (one arm's trials in a block), by Student's t."""
    blocks = sorted({block for each in prompts for block in each.blocks})
    tasks = list(dict.fromkeys(each.task for each in prompts))
    full = [
        block
        for block in blocks
        if sum(block in each.blocks for each in prompts) >= FULL * len(prompts)
        and all(any(block in p.blocks for p in prompts if p.task == task) for task in tasks)
    ]
    if len(full) < 2:
        return None
    alone = [
        [[p.blocks.get(block, p.times) for p in prompts if p.task == task] for task in tasks]
        for block in full
    ]
    level = 0.95 if document["design"].get("precision") is None else 0.975
    return _half_width([math.log(_ratio(each)) for each in alone], level)


def _half_width(values: list[float], level: float) -> float:
    quantile = float(scipy.stats.t.ppf((1 + level) / 2, len(values) - 1))
    return quantile * stdev(values) / math.sqrt(len(values))


if __name__ == "__main__":
    main(sys.argv[1:])
