"""Measure how fast files are judged: one, and a whole corpus. `python -m bench.intake`.

Processor time, least of several, for the measured files of the repository (default campaigns). The
corpus is made of them; its figure is by the clock, on all cores.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from pipeline.collection.corpus import corpus_findings
from pipeline.collection.discover import discover
from schemas import contract
from schemas.codec import canonical_bytes, content_digest
from tests.cases.json_cases import POLICY, REFUSED
from tests.schemas.test_hostile_documents import CASES, changed

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "bench" / "figures" / "intake-speed.json"
SAMPLES = sorted((ROOT / "results" / "community").glob("*.json"))
CORPUS = 400
REPEATS = 15


def main() -> int:
    """Write and print the figures; 1 if a hostile case takes 200 ms or a file takes 50 ms."""
    figures = measured()
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command
    slow = figures["slowest_hostile_case_ms"] >= 200 or figures["files_per_s"] < 20
    return 1 if slow else 0


def measured() -> dict[str, Any]:
    """Files per second and milliseconds of the slowest hostile case."""
    data = SAMPLES[0].read_bytes()
    one_ms = best_ms(lambda: contract.read(data))
    hostile = [*REFUSED.values(), *(text for text, _ in POLICY.values())]
    hostile += [changed(place, value) for place, value, *_ in CASES]
    return {
        "file_kib": round(len(data) / 1024),
        "files_per_s": round(1000 / one_ms, 1),
        "cores": os.cpu_count(),
        "corpus_files": CORPUS,
        "corpus_files_per_s": _corpus_files_per_s(),
        "hostile_cases": len(hostile),
        "slowest_hostile_case_ms": round(
            max(_once_ms(partial(contract.findings, data)) for data in hostile), 1
        ),
    }


def _corpus_files_per_s() -> float:
    """Files per second by the clock for a corpus."""
    with TemporaryDirectory() as folder:
        _write_corpus(Path(folder) / "community")
        sources = discover(Path(folder))
        began = time.perf_counter()
        found = corpus_findings(sources)
        elapsed_s = time.perf_counter() - began
    assert not found, found
    return round(CORPUS / elapsed_s, 1)


def _write_corpus(folder: Path) -> None:
    folder.mkdir()
    documents = [orjson.loads(path.read_bytes()) for path in SAMPLES]
    for number in range(CORPUS):
        document = documents[number % len(documents)]
        document["design"]["seed"] = number
        data = canonical_bytes(document)
        day = document["measured_from"][:10].replace("-", "")
        (folder / f"rig--model--{day}-{content_digest(data)}.json").write_bytes(data)


def best_ms(task: Callable[[], object]) -> float:
    """The least processor time that the task took, in milliseconds."""
    return min(_once_ms(task) for _ in range(REPEATS))


def _once_ms(task: Callable[[], object]) -> float:
    began = time.process_time()
    task()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    sys.exit(main())
