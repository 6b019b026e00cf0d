"""The worked example of the Methodology page follows from the raw trials of its file."""

import json
import math
import re
from operator import truediv
from pathlib import Path
from statistics import fmean, median, variance
from typing import Any

import pytest

from bench import recompute, recompute_trials

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "site_src" / "methodology.md").read_text("utf-8")
EXAMPLE = PAGE.split("### A worked example")[1].split("\n### ")[0]
ARM, TASK, T_OF_3 = "prompt-lookup-n8", "math", 3.182446
ROW = re.compile(r"^\| `([a-z-]+)` \| (.+) \|$", re.MULTILINE)


def file() -> dict[str, Any]:
    named = re.search(r"`(\S+\.json)`", EXAMPLE)
    assert named is not None
    data = (ROOT / "results" / "community" / named[1]).read_text("utf-8")
    found: dict[str, Any] = json.loads(data)
    return found


FILE = file()
FIGURE = next(e for e in recompute.figures(FILE) if (e.arm, e.task) == (ARM, TASK))
ROWS = {name: [cell.strip() for cell in cells.split("|")] for name, cells in ROW.findall(EXAMPLE)}


def steady(arm: str, prompt: str) -> list[float]:
    """Ms per token of each block by the steady clock, as the page describes it."""
    done = [trial for trial in FILE["trials"] if trial["arm"] == arm and trial["outcome"] == "ok"]
    excess = median(trial["decode_ms"] / medians(trial) for trial in done)
    found = sorted((t for t in done if t["prompt"] == prompt), key=lambda trial: trial["block"])
    return [medians(trial) * excess / (trial["output_tokens"] - 1) for trial in found]


def medians(trial: dict[str, Any]) -> float:
    counts = [count for count in trial["drafted_histogram"] if count]
    return sum(a * b for a, b in zip(counts, trial["round_ms_median"], strict=True))


ARMS = [arm["id"] for arm in FILE["arms"]]
PROMPTS = [prompt["id"] for prompt in FILE["suite"]["prompts"] if prompt["task"] == TASK]
TIMES = {each: (steady("baseline", each), steady(ARM, each)) for each in PROMPTS}


def paces(prompt: str) -> list[float]:
    """All arms of the file are compared with its one baseline."""
    times = [steady(arm, prompt) for arm in ARMS]
    return [sum(block) / sum(map(median, times)) for block in zip(*times, strict=True)]


def paced(prompt: str, side: int) -> float:
    """The median of the times by the pace of their block."""
    return median(map(truediv, TIMES[prompt][side], paces(prompt)))


def test_the_table_has_the_times_of_every_trial() -> None:
    assert list(ROWS) == PROMPTS
    for prompt, (plain, own) in TIMES.items():
        printed = ROWS[prompt]
        assert printed[0].split() == [f"{pace:.3f}" for pace in paces(prompt)]
        assert printed[1].split() == [f"{ms:.2f}" for ms in plain]
        assert printed[3].split() == [f"{ms:.2f}" for ms in own]
        assert [printed[2], printed[4]] == [f"{paced(prompt, side):.2f}" for side in (0, 1)]


def test_the_arithmetic_below_it_follows_from_the_raw_trials() -> None:
    x, y = ([paced(prompt, side) for prompt in PROMPTS] for side in (0, 1))
    ratio = fmean(x) / fmean(y)
    d = [(a - ratio * b) / fmean(x) for a, b in zip(x, y, strict=True)]
    spread = T_OF_3 * math.sqrt(variance(d) / 4)

    assert [ROWS[prompt][5] for prompt in PROMPTS] == [f"{each:.4f}" for each in d]
    for figure in (
        f"= {fmean(x):.2f}",
        f"= {fmean(y):.2f}",
        f"= {1000 / fmean(x):.1f} tokens/s",
        f"= {1000 / fmean(y):.1f} tokens/s",
        f"= {ratio:.3f}",
        f"= {variance(d):.4f}",
        f"= {spread:.4f}",
    ):
        assert figure in EXAMPLE, figure


def test_its_result_is_that_of_the_recomputation_from_the_page() -> None:
    arm = next(each for each in FILE["arms"] if each["id"] == ARM)
    pairs = [p for p in recompute_trials.prompts_of(FILE, arm) if p.task == TASK]
    reading = fmean(each.reading[0] for each in pairs if each.reading)
    low, high = FIGURE.low or 0.0, FIGURE.high or 0.0
    requests = [reading + fmean(e.answer * e.times[side] for e in pairs) for side in (0, 1)]

    for figure in (
        f"e^(± {math.log(high / low) / 2:.4f}) = {low:.3f} to {high:.3f}",
        f"by the wall clock {FIGURE.wall:.3f}",
        f"= {FIGURE.tokens_per_round:.2f}",
        f"= {(FIGURE.tokens_per_round or 0) / FIGURE.speedup:.2f}",
        f"read a prompt in {reading:,.0f} ms",
        f"{requests[0]:,.0f} and {requests[1]:,.0f} ms",
        f"{FIGURE.whole:.3f} ({FIGURE.whole_low:.3f} to {FIGURE.whole_high:.3f})",
        f"with answers of 256 tokens the ratio is {FIGURE.stated:.3f}",
    ):
        assert figure in EXAMPLE, figure


def test_the_printed_times_divide_to_the_printed_speedup() -> None:
    x, y = ([float(ROWS[prompt][place]) for prompt in PROMPTS] for place in (2, 4))

    assert fmean(x) / fmean(y) == pytest.approx(FIGURE.speedup, abs=0.0005)
