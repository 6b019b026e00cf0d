"""Time the project's own code: `make bench` prints one line per task, without a limit.

Processor time, best of several: what the code costs, not what else the machine was doing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import orjson

from schemas import authority, contract, strict, validator
from schemas.codec import decode, encode
from schemas.submission import Submission
from tests.samples import sample, sample_bytes

if TYPE_CHECKING:
    from collections.abc import Callable


REPEATS = 15


def main() -> None:
    """Print the milliseconds of each task for a default campaign."""
    submission = sample()
    data = sample_bytes(submission)
    document = orjson.loads(data)
    tasks: dict[str, Callable[[], object]] = {
        "load strictly": lambda: strict.load(data),
        "check the schema": lambda: authority.schema_findings(
            document, validator.SUBMISSION_SCHEMA
        ),
        "decode": lambda: decode(Submission, document),
        "encode": lambda: encode(submission),
        "read (all of it)": lambda: contract.read(data),
    }
    print(f"one submission of {len(data) / 1024:.0f} KiB, {len(submission.trials)} trials")  # noqa: T201 - the result of this command
    for name, task in tasks.items():
        print(f"{name:20} {best_ms(task):8.2f} ms")  # noqa: T201 - the result of this command


def best_ms(task: Callable[[], object]) -> float:
    """The least processor time that the task took, in milliseconds."""
    return min(_once_ms(task) for _ in range(REPEATS))


def _once_ms(task: Callable[[], object]) -> float:
    began = time.process_time()
    task()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
