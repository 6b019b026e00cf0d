"""How many threads, when nobody says? One number for every runner."""

from __future__ import annotations

import psutil


def default_threads() -> int:
    """All physical cores that this process may use but one.

    The threads of a step wait for each other at every operation. If one shares its core with
    another program, all wait: on a busy two-core machine one thread took 20 ms for a step, two
    took 50 to 220 ms. One core for everything else costs little on a quiet machine.
    """
    usable = len(psutil.Process().cpu_affinity()) if psutil.LINUX else psutil.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or 1, usable) - 1)
