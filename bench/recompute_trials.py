"""Compute each prompt's paired times, using only the text of the Methodology page.

This module covers steps 1 and 2 of the page and its rules for reading the prompt; `bench.recompute`
has the other steps. Nothing is imported from `estimates`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

Trial = dict[str, Any]
Times = tuple[float, float]  # without and with the arm
Paces = dict[int, float]  # by block
# These methods have no draft model that reads the prompt.
LOOK_UP = (
    *("none", "empty-draft", "oracle", "prompt-lookup", "suffix"),
    *("ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedPrompt:
    """One prompt with both arms' times per token by the steady clock, else by the wall clock.

    `blocks` has both times by block, `rounds` the arm's rounds per token, `plain` the logarithm of
    the baseline's time in the first block, and `order` that trial's place in the running order.
    `reading` has the milliseconds that baseline and arm take to read the prompt, if known. `answer`
    is the number of tokens after the first.
    """

    task: str
    times: Times
    walls: Times
    blocks: dict[int, Times]
    rounds: float | None
    clock: float
    reading: Times | None
    answer: float
    plain: float
    order: int


def prompts_of(document: dict[str, Any], arm: dict[str, Any]) -> Iterator[PairedPrompt]:
    """The prompts that the arm and its baseline share, in the order of the suite."""
    done = [t for t in document["trials"] if t["outcome"] == "ok" and _tokens(t) and t["decode_ms"]]
    for prompt in document["suite"]["prompts"]:
        of_prompt = [trial for trial in done if trial["prompt"] == prompt["id"]]
        own = {t["block"]: t for t in of_prompt if t["arm"] == arm["id"]}
        base = {t["block"]: t for t in of_prompt if t["arm"] == arm["baseline"]}
        limits = _limits(document, arm["id"], prompt["id"])
        ended, given_up = sorted(own.keys() & base.keys()), sorted(limits.keys() & base.keys())
        if not ended and not given_up:
            continue
        first = base[(ended or given_up)[0]]
        compared = [own[block] for block in ended] + [base[block] for block in ended + given_up]
        steady = all(_median_ms(trial) is not None for trial in compared)
        excess = {name: _excess(done, name) for name in (arm["id"], arm["baseline"])}
        errors = (_excess_error(done, name) for name in (arm["id"], arm["baseline"]))
        time = partial(_steady, excess=excess) if steady else _wall
        paces = _paces(document, arm, of_prompt, done)
        beyond = [limits[block] / paces[block] for block in given_up]
        paced = {block: time(base[block]) / paces[block] for block in ended + given_up}
        paced_own = {block: time(own[block]) / paces[block] for block in ended}
        yield PairedPrompt(
            task=prompt["task"],
            times=(median(paced.values()), median([*paced_own.values(), *beyond])),
            walls=(
                median(
                    _wall(base[block]) / paces[block] if block in ended else paced[block]
                    for block in paced
                ),
                median([*(_wall(own[block]) / paces[block] for block in ended), *beyond]),
            ),
            blocks={block: (time(base[block]), time(own[block])) for block in ended},
            rounds=_rounds_per_token([own[block] for block in ended]),
            clock=math.hypot(*errors) if steady else 0.0,
            reading=_reading(document, arm, prompt["id"]),
            answer=median(_tokens(t) for t in of_prompt if t["arm"] == arm["baseline"]),
            plain=math.log(paced[first["block"]]),
            order=first["order"],
        )


def _paces(
    document: dict[str, Any], arm: dict[str, Any], of_prompt: list[Trial], done: list[Trial]
) -> Paces:
    """The machine's slowness in each block of a prompt, from the baseline and all arms with it."""
    base = arm["baseline"]
    ids = {base, arm["id"], *(a["id"] for a in document["arms"] if a.get("baseline") == base)}
    trials = [trial for trial in of_prompt if trial["arm"] in ids]
    blocks = {trial["block"] for trial in trials}
    if len(blocks) < 3:
        return dict.fromkeys(blocks, 1.0)
    excess = {name: _excess(done, name) for name in ids}
    steady = all(_median_ms(trial) is not None for trial in trials)
    ms = {(t["arm"], t["block"]): _steady(t, excess) if steady else _wall(t) for t in trials}
    usual = {each: median(ms[at] for at in ms if at[0] == each) for each, _ in ms}
    return {
        block: sum(ms[at] for at in ms if at[1] == block)
        / sum(usual[name] for name, at in ms if at == block)
        for block in blocks
    }


def _limits(document: dict[str, Any], arm: str, prompt: str) -> dict[int, float]:
    """Ms per token of timed-out trials, keyed by block: their whole time over the token limit."""
    most = document["settings"].get("max_output_tokens", 1) - 1
    return {
        trial["block"]: trial["wall_ms"] / most
        for trial in document["trials"]
        if (trial["arm"], trial["prompt"]) == (arm, prompt)
        if trial.get("reason") == "timed-out" and trial.get("wall_ms") and most > 0
    }


def _rounds_per_token(trials: list[Trial]) -> float | None:
    counted = []
    for trial in trials:
        counted.append(trial.get("rounds"))
        if counted[-1] is None and "accepted" in trial and _tokens(trial) > trial["accepted"]:
            counted[-1] = _tokens(trial) - trial["accepted"]
    known = [each for each in counted if each is not None]
    if not known or len(known) < len(trials):
        return None
    return sum(known) / sum(map(_tokens, trials))


def _reading(document: dict[str, Any], arm: dict[str, Any], prompt: str) -> Times | None:
    """Prompt-processing times of baseline and arm; if unknown, their times to the first token."""
    arms = {each["id"]: each for each in document["arms"]}
    baseline = arms[arm["baseline"]]
    done = [
        t
        for t in document["trials"]
        if t["prompt"] == prompt and t["outcome"] == "ok"
        if arms[t["arm"]].get("concurrency", 1) == 1
    ]
    if arm.get("concurrency", 1) > 1 or not [t for t in done if t["arm"] == baseline["id"]]:
        return None

    def by_target(own: dict[str, Any]) -> list[float]:
        same = [t for t in done if _placed(arms[t["arm"]]) == _placed(own)]
        return [t["prompt_ms"] for t in same if "prompt_ms" in t]

    drafts = [t for t in done if _draft(arms[t["arm"]]) == _draft(arm)]
    drafted = [t["draft_prompt_ms"] for t in drafts if "draft_prompt_ms" in t]
    drafted = [0.0] if arm["method"]["type"] in LOOK_UP else drafted
    if by_target(baseline) and by_target(arm) and drafted:
        return median(by_target(baseline)), median(by_target(arm)) + median(drafted)
    sides = [[_before_first(t) for t in done if t["arm"] == each["id"]] for each in (baseline, arm)]
    sides[1] = sides[1] or sides[0]
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
    """The number of tokens after the first."""
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
