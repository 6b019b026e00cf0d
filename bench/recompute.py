"""Every estimate of a result file, recomputed from the words of the Methodology page alone.

`python -m bench.recompute FILE...` prints them. Nothing of `estimates` is imported: this is
what a reader of that page would write.
"""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median, stdev, variance
from typing import Any

import scipy

Trial = dict[str, Any]
FIXED = ("code", "math", "reasoning", "summarization", "chat", "json", "creative", "translation")
FULL = 0.9
# Drafting with these reads no prompt: nothing, the text itself, or the answer that is known.
LOOK_UP = (
    *("none", "empty-draft", "oracle", "prompt-lookup", "suffix"),
    *("ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A speedup with its interval, and the ratio by the wall clock."""

    arm: str
    task: str | None
    speedup: float
    wall: float
    low: float | None
    high: float | None
    whole: float | None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The log ratios of one prompt by block, by the steady clock where it has one.

    `whole` is the log ratio of whole requests, `None` where a part of them is not known; `plain`
    the logarithm of the baseline's time in the first block, `order` when that ran.
    """

    task: str
    ratios: dict[int, float]
    walls: dict[int, float]
    clock: float
    whole: float | None
    plain: float
    order: int


def main(paths: list[str]) -> None:
    """Print the figures of some files."""
    for path in paths:
        for each in figures(json.loads(Path(path).read_text("utf-8"))):
            sys.stdout.write(f"{path}: {each}\n")


def figures(document: dict[str, Any]) -> Iterator[Figure]:
    """Arm by arm: every task with a paired prompt, then all tasks, or the suite's own."""
    suite = list(dict.fromkeys(prompt["task"] for prompt in document["suite"]["prompts"]))
    own = document["tier"] == "imported" and not set(FIXED) <= set(suite)
    for arm in document["arms"]:
        if arm["role"] == "baseline":
            continue
        prompts = list(_prompts(document, arm))
        every = tuple(suite) if own else FIXED
        for name, tasks in (*((task, (task,)) for task in suite), (None, every)):
            groups = [[each for each in prompts if each.task == task] for task in tasks]
            if all(groups):
                yield _figure(document, arm["id"], name, groups, prompts)


def _figure(
    document: dict[str, Any],
    arm: str,
    task: str | None,
    groups: list[list[Prompt]],
    prompts: list[Prompt],
) -> Figure:
    logs = [[median(each.ratios.values()) for each in group] for group in groups]
    walls = [[median(each.walls.values()) for each in group] for group in groups]
    values = logs[0] if len(logs) == 1 else [fmean(group) for group in logs]
    centre, wall = fmean(values), fmean(fmean(group) for group in walls)
    whole = [[each.whole for each in group if each.whole is not None] for group in groups]
    known = [len(each) for each in whole] == [len(each) for each in groups]
    half_width = _half_width(values, 0.95) if len(values) > 1 else None
    by_passes = document["design"].get("interleaved") == "block"
    if half_width is not None and task is not None and not by_passes:
        half_width = max(half_width, _repeats(document, prompts) / math.sqrt(len(values)))
    if half_width is not None and by_passes:
        passes = _passes(document, prompts)
        half_width = None if passes is None else math.hypot(half_width, passes)
    if half_width is not None:
        half_width = math.hypot(half_width, _load(document))
        half_width = math.hypot(half_width, max(each.clock for group in groups for each in group))
    return Figure(
        arm=arm,
        task=task,
        speedup=math.exp(centre),
        wall=math.exp(wall),
        low=None if half_width is None else math.exp(min(centre - half_width, wall)),
        high=None if half_width is None else math.exp(max(centre + half_width, wall)),
        whole=math.exp(fmean(fmean(each) for each in whole)) if known else None,
    )


def _repeats(document: dict[str, Any], prompts: list[Prompt]) -> float:
    """How far one block may lie from its prompt: no task is known better than by its repeats."""
    spreads = [variance(each.ratios.values()) for each in prompts if len(each.ratios) > 1]
    if not spreads and document["design"].get("order") != "sequential":
        plain = [each.plain for each in sorted(prompts, key=lambda each: each.order)]
        spreads = [(b - a) ** 2 for a, b in pairwise(plain)]
    return 1.96 * math.sqrt(fmean(spreads)) if spreads else 0.0


def _load(document: dict[str, Any]) -> float:
    """What other programs may have moved, from the state of the machine before and after."""
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


def _passes(document: dict[str, Any], prompts: list[Prompt]) -> float | None:
    """What disturbs whole passes: Student's t over the blocks' mean deviations."""
    blocks = sorted({block for each in prompts for block in each.ratios})
    tasks = list(dict.fromkeys(each.task for each in prompts))
    full = [
        block
        for block in blocks
        if sum(block in each.ratios for each in prompts) >= FULL * len(prompts)
        and all(any(block in p.ratios for p in prompts if p.task == task) for task in tasks)
    ]
    if len(full) < 2:
        return None
    means = {id(p): fmean([p.ratios[b] for b in full if b in p.ratios] or [0.0]) for p in prompts}
    deviations = [
        fmean(
            fmean(
                p.ratios[block] - means[id(p)]
                for p in prompts
                if p.task == task and block in p.ratios
            )
            for task in tasks
        )
        for block in full
    ]
    level = 0.95 if document["design"].get("precision") is None else 0.975
    return _half_width(deviations, level)


def _half_width(values: list[float], level: float) -> float:
    quantile = float(scipy.stats.t.ppf((1 + level) / 2, len(values) - 1))
    return quantile * stdev(values) / math.sqrt(len(values))


def _prompts(document: dict[str, Any], arm: dict[str, Any]) -> Iterator[Prompt]:
    done = [t for t in document["trials"] if t["outcome"] == "ok" and _tokens(t) and t["decode_ms"]]
    excess = {name: _excess(done, name) for name in (arm["id"], arm["baseline"])}
    error = math.hypot(*(_excess_error(done, name) for name in (arm["id"], arm["baseline"])))
    for prompt in document["suite"]["prompts"]:
        of_prompt = [trial for trial in done if trial["prompt"] == prompt["id"]]
        own = {t["block"]: t for t in of_prompt if t["arm"] == arm["id"]}
        base = {t["block"]: t for t in of_prompt if t["arm"] == arm["baseline"]}
        blocks = sorted(own.keys() & base.keys())
        if not blocks:
            continue
        pairs = [(own[block], base[block]) for block in blocks]
        steady = all(_median_ms(trial) is not None for pair in pairs for trial in pair)
        ratios, walls = {}, {}
        for block, (mine, theirs) in zip(blocks, pairs, strict=True):
            walls[block] = math.log(_wall(theirs) / _wall(mine))
            ratios[block] = walls[block]
            if steady:
                ratios[block] = math.log(_steady(theirs, excess) / _steady(mine, excess))
        whole = _whole(document, arm, pairs)
        first = pairs[0][1]
        plain = math.log(_steady(first, excess) if steady else _wall(first))
        clock = error if steady else 0.0
        yield Prompt(prompt["task"], ratios, walls, clock, whole, plain, first["order"])


def _whole(
    document: dict[str, Any], arm: dict[str, Any], pairs: list[tuple[Trial, Trial]]
) -> float | None:
    """Log ratio of whole requests: P + d (m - 1) over P + Q + e (m - 1), the median over blocks."""
    read = _reading(document, arm, pairs)
    if read is None or arm.get("concurrency", 1) > 1:
        return None
    written = median(_tokens(base) for _, base in pairs)
    return median(
        math.log((read[0] + _wall(base) * written) / (read[1] + _wall(own) * written))
        for own, base in pairs
    )


def _reading(
    document: dict[str, Any], arm: dict[str, Any], pairs: list[tuple[Trial, Trial]]
) -> tuple[float, float] | None:
    """What reading the prompt takes the baseline and the arm; else what comes before a token."""
    arms = {each["id"]: each for each in document["arms"]}
    prompt, baseline = pairs[0][0]["prompt"], arms[arm["baseline"]]
    done = [
        t
        for t in document["trials"]
        if t["prompt"] == prompt and t["outcome"] == "ok"
        if arms[t["arm"]].get("concurrency", 1) == 1
    ]

    def by_target(own: dict[str, Any]) -> list[float]:
        same = [t for t in done if _placed(arms[t["arm"]]) == _placed(own)]
        return [t["prompt_ms"] for t in same if "prompt_ms" in t]

    drafts = [t for t in done if _draft(arms[t["arm"]]) == _draft(arm)]
    drafted = [t["draft_prompt_ms"] for t in drafts if "draft_prompt_ms" in t]
    drafted = [0.0] if arm["method"]["type"] in LOOK_UP else drafted
    if by_target(baseline) and by_target(arm) and drafted:
        return median(by_target(baseline)), median(by_target(arm)) + median(drafted)
    sides = [[_before_first(pair[at]) for pair in pairs] for at in (1, 0)]
    known = [[each for each in side if each is not None] for side in sides]
    return (median(known[0]), median(known[1])) if known == sides else None


def _placed(arm: dict[str, Any]) -> int | None:
    layers: int | None = arm.get("placement", {}).get("target_gpu_layers_requested")
    return layers


def _draft(arm: dict[str, Any]) -> str:
    return str(arm["method"].get("draft") or arm["id"])


def _before_first(trial: Trial) -> float | None:
    if "ttft_ms" in trial:
        return float(trial["ttft_ms"])
    if "prompt_ms" in trial and "wall_ms" in trial:
        return max(float(trial["prompt_ms"]), float(trial["wall_ms"] - trial["decode_ms"]))
    return None


def _tokens(trial: Trial) -> int:
    """Tokens after the first."""
    return max(0, (trial.get("output_tokens") or 0) - 1)


def _wall(trial: Trial) -> float:
    return float(trial["decode_ms"]) / _tokens(trial)


def _steady(trial: Trial, excess: dict[str, float]) -> float:
    return (_median_ms(trial) or 0.0) * excess[trial["arm"]] / _tokens(trial)


def _median_ms(trial: Trial) -> float | None:
    histogram, medians = trial.get("drafted_histogram"), trial.get("round_ms_median")
    counts = [count for count in histogram or () if count]
    if not counts or medians is None or len(counts) != len(medians):
        return None
    return float(sum(count * ms for count, ms in zip(counts, medians, strict=True)))


def _excess(trials: list[Trial], arm: str) -> float:
    return median(_excesses(trials, arm) or [1.0])


def _excess_error(trials: list[Trial], arm: str) -> float:
    found = _excesses(trials, arm) or [1.0]
    place = max(0, math.floor((len(found) - 1.96 * math.sqrt(len(found))) / 2))
    return (math.log(found[len(found) - 1 - place]) - math.log(found[place])) / 2


def _excesses(trials: list[Trial], arm: str) -> list[float]:
    own = [trial for trial in trials if trial["arm"] == arm]
    return sorted(trial["decode_ms"] / ms for trial in own if (ms := _median_ms(trial)))


if __name__ == "__main__":
    main(sys.argv[1:])
