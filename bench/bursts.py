"""Simulate a busy neighbour: take a core in bursts, with pauses in between.

`python -m bench.bursts SEED` runs until its parent process ends.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

# The bursts are shorter than a campaign's block and longer than a round, so that some trials of a
# pair are hit.
SHORTEST_S = 0.1
LONGEST_S = 2.0


@contextmanager
def running(seed: int) -> Iterator[None]:
    """Run a busy neighbour until the `with` block ends."""
    command = [sys.executable, "-m", "bench.bursts", str(seed)]
    with subprocess.Popen(command) as neighbour:
        try:
            yield
        finally:
            neighbour.kill()


def main() -> None:
    """Alternate between load and rest."""
    rng = random.Random(int(sys.argv[1]))  # noqa: S311 - a disturbance, not a secret
    parent = os.getppid()
    while os.getppid() == parent:
        _burn(rng.uniform(SHORTEST_S, LONGEST_S))
        time.sleep(rng.uniform(SHORTEST_S, LONGEST_S))


def _burn(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


if __name__ == "__main__":
    main()
