"""A page's script prints a figure as Python does."""

import random
from pathlib import Path
from typing import Any

from schemas.vocabulary import say
from tests import scripts

PRINT = """
import * as printers from "./say.js";
const answer = (asked) => asked.map(([name, ...values]) => printers[name](...values));
"""


def questions() -> list[tuple[Any, ...]]:
    rng = random.Random(1)  # noqa: S311 - a seeded draw of examples
    ratios = [rng.lognormvariate(0, 2) for _ in range(1000)]
    # Exactly halfway between two printed figures, at the ends, and unknown.
    ratios += [0.125, 0.375, 2.675, 1.005, 0.1, 10.0, 0.0999, 10.001, 0.0, 1.0, 123456.789]
    asked: list[tuple[Any, ...]] = []
    for ratio in ratios:
        asked += [("times", ratio), ("bound", ratio), ("interval", ratio, ratio * 1.3)]
        asked += [("percent", ratio / 10), ("percent", ratio / 10, 1)]
        asked += [("number", ratio * 1000), ("number", ratio, 3)]
    asked += [("rate", ratio * 10) for ratio in ratios if ratio]
    asked += [(name, None) for name in ("number", "percent", "rate", "times")]
    asked += [("count", value, "cell") for value in (0, 1, 2, 999, 1000, 1234567)]
    return asked


def test_the_script_prints_what_python_prints(tmp_path: Path) -> None:
    asked = questions()

    expected = [getattr(say, name)(*values) for name, *values in asked]
    assert [
        (question, found, wanted)
        for question, found, wanted in zip(
            asked, scripts.run(tmp_path, PRINT, asked), expected, strict=True
        )
        if found != wanted
    ] == []
