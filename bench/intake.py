"""Measure how fast files are judged, in processor time: `python -m bench.intake`.

A default campaign from the repository is timed several times, and the fastest time counts. Each
hostile document is timed once. `bench.scale` measures a whole corpus.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from schemas import contract
from tests.cases.json_cases import POLICY, REFUSED
from tests.schemas.test_hostile_documents import CASES, changed

SAMPLE = min((Path(__file__).parents[1] / "results" / "community").glob("*.json"))
REPEATS = 15


def main() -> int:
    """Print the figures; return 1 if a hostile case takes 200 ms or a file 50 ms."""
    figures = measured()
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command
    slow = figures["slowest_hostile_case_ms"] >= 200 or figures["files_per_s"] < 20
    return 1 if slow else 0


def measured() -> dict[str, Any]:
    """Return files per second and the milliseconds of the slowest hostile case."""
    data = SAMPLE.read_bytes()
    one_ms = min(_once_ms(lambda: contract.read(data)) for _ in range(REPEATS))
    hostile = [*REFUSED.values(), *(text for text, _ in POLICY.values())]
    hostile += map(changed, CASES)
    return {
        "file_kib": round(len(data) / 1024),
        "files_per_s": round(1000 / one_ms, 1),
        "hostile_cases": len(hostile),
        "slowest_hostile_case_ms": round(
            max(_once_ms(partial(contract.findings, data)) for data in hostile), 1
        ),
    }


def _once_ms(task: Callable[[], object]) -> float:
    """The processor time of a task in milliseconds."""
    began = time.process_time()
    task()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    sys.exit(main())
