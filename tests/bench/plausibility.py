"""How fast is a new file compared with ten thousand, and how often is an honest one accused?

Run as `python -m tests.bench.plausibility [FILES]`. The corpus is made up: honest campaigns of
two blocks, and among them known copies, scaled, in part, and changed by up to one percent.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.plausibility import corpus_flags, flags_within
from pipeline.plausibility.corpus import Corpus
from tests.samples import Costs, sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.submission import Submission, Trial

    Deed = Callable[[tuple[Trial, ...]], tuple[Trial, ...]]

COPIES_EACH = 20
ACCUSATIONS = {"copied-times", "copied-noise"}


def main(files: int) -> int:
    """Print what was found and how long it took; 1 if a copy was missed or a file accused."""
    rng = random.Random(1)  # noqa: S311 - made-up data
    honest = [honest_one(number) for number in range(files)]
    copies = [
        (name, replace(honest_one(files + number), trials=deed(rng.choice(honest).trials)))
        for name, deed in deeds(rng).items()
        for number in range(COPIES_EACH)
    ]
    began = time.process_time()
    corpus = Corpus(tuple(honest))
    accused(corpus_flags(honest_one(-1), corpus))
    indexed = time.process_time()
    missed = [name for name, each in copies if not accused(corpus_flags(each, corpus))]
    asked = time.process_time()
    wrong = sum(accused(flags) for flags in flags_within(honest))
    ended = time.process_time()
    print(f"{files} files indexed in {indexed - began:.1f} s of processor time")  # noqa: T201 - a report
    each_ms = (asked - indexed) / len(copies) * 1000
    print(f"{len(copies)} copies: {len(missed)} missed {missed}; {each_ms:.0f} ms each")  # noqa: T201
    print(f"{files} honest files: {wrong} accused; all in {ended - asked:.1f} s")  # noqa: T201
    return 1 if missed or wrong else 0


def honest_one(number: int) -> Submission:
    """A campaign of a rig of its own; the noise is its own too."""
    costs = Costs(step_ms=10 + number % 97, extra_width_ms=1 + number % 7, noise=0.01)
    return sample(seed=number, gpu=f"Card {number % 89}", contributor=f"c{number}", costs=costs)


def accused(flags: tuple[object, ...]) -> bool:
    """Whether the flags say that times were copied."""
    return any(getattr(flag, "name", "") in ACCUSATIONS for flag in flags)


def deeds(rng: random.Random) -> dict[str, Deed]:
    """What a copier does to the trials of somebody else."""
    return {
        "as they are": lambda trials: trials,
        "scaled": lambda trials: tuple(times(each, 1.07) for each in trials),
        "half of them": lambda trials: trials[: len(trials) // 2],
        "every second": lambda trials: tuple(each for each in trials if rng.random() < 0.5),
        "half a percent": lambda trials: tuple(
            times(each, 1 + rng.uniform(-0.005, 0.005)) for each in trials
        ),
    }


def times(each: Trial, factor: float) -> Trial:
    return replace(each, decode_ms=round((each.decode_ms or 0.0) * factor, 3))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
