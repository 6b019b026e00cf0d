"""Measures how fast this machine reads memory, to estimate the duration of a campaign."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import psutil

BYTES, _REPEATS = 64 * 1024 * 1024, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRate:
    """The memory bandwidth of one thread in bytes/s, and the number of threads that compute."""

    bytes_per_s: float
    threads: int


def this_machine(
    threads: int | None, clock: Callable[[], float] = time.perf_counter
) -> MachineRate:
    """Measure the fastest of eight memory copies; `threads` defaults to all cores but one."""
    source = np.zeros(BYTES, dtype=np.uint8)
    destination, took_s = np.ones_like(source), []
    for _ in range(_REPEATS):
        began = clock()
        np.copyto(destination, source)
        took_s.append(clock() - began)
    cores = psutil.cpu_count(logical=False) or 1
    return MachineRate(
        bytes_per_s=2 * BYTES / min(took_s),  # each byte is read and written
        threads=min(cores, threads or max(1, cores - 1)),
    )
