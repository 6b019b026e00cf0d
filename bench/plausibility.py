"""How fast is a new file compared with ten thousand, and how often is an honest one accused?

Run as `python -m bench.plausibility [FILES]`. The corpus is made up: honest campaigns of
two blocks, and beside them known copies, scaled, in part, and changed by up to half a percent.
The figures go to a file of the site.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.collection.plausibility import corpus_flags, flags_within
from pipeline.collection.plausibility.corpus import FALSE_ALARM, Corpus
from tests.samples import Costs, sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.submission import Submission, Trial


if TYPE_CHECKING:
    Deed = Callable[[tuple[Trial, ...]], tuple[Trial, ...]]

OUTPUT = Path(__file__).parent / "figures" / "plausibility.json"
COMMON = "Common Card"
COPIES_EACH = 20
ACCUSATIONS = {"copied-times", "copied-noise"}


def main(files: int) -> int:
    """Write and print the figures; 1 if a copy was missed or an honest file accused."""
    figures = measure(files)
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command
    return 1 if figures["missed"] or figures["accused"] else 0


def measure(files: int) -> dict[str, Any]:
    """What was found among so many files, and the processor time of each step."""
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
    told = list(flags_within(honest))
    ended = time.process_time()
    return {
        "files": files,
        "on_one_device": sum(1 for each in honest if each.machine.gpus[0].name == COMMON),
        "false_alarm_of_a_whole_corpus": FALSE_ALARM,
        "accused": sum(map(accused, told)),
        "copies": len(copies),
        "missed": Counter(missed),
        "index_s": round(indexed - began, 1),
        "one_new_file_ms": round((asked - indexed) / len(copies) * 1000),
        "all_files_s": round(ended - asked, 1),
    }


def honest_one(number: int) -> Submission:
    """A campaign of a rig of its own; the noise is its own too. Half of all have the same card."""
    costs = Costs(step_ms=10 + number % 97, extra_width_ms=1 + number % 7, noise=0.01)
    card = COMMON if number % 2 else f"Card {number % 89}"
    return sample(seed=number, gpu=card, contributor=f"c{number}", costs=costs)


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
