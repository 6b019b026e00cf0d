"""Measure energy with a hardware counter of the device that computes: processor or NVIDIA GPU."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol

from harness.machine.nvml import NvmlCounter, open_nvml
from harness.machine.rapl import POWERCAP, RaplCounter
from schemas.submission import Gpu

Method = Literal["nvml", "rapl"]


class Counter(Protocol):
    """Energy counters of all devices of one kind."""

    def read(self) -> tuple[int, ...] | None:
        """The counters now, each in its unit; `None` if they cannot be read."""
        ...

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float | None:
        """What was used between two readings, over all devices."""
        ...


class EnergyMeter:
    """Measures the energy of one interval after another; `method` is `None` without a counter."""

    def __init__(self, method: Method | None, counter: Counter | None) -> None:
        self.method = method
        self._counter = counter
        self._start: tuple[int, ...] | None = None

    def start(self) -> None:
        """Read the counter; call it outside every timed interval."""
        self._start = self._counter.read() if self._counter else None

    def stop(self) -> float | None:
        """Joules since `start`."""
        ended = self._counter.read() if self._counter else None
        if self._counter is None or self._start is None or ended is None:
            return None
        # A counter that did not change was not updated in so short a time; that is not 0 joules.
        return self._counter.joules(self._start, ended) or None


def meter(backend: str, *, powercap: Path = POWERCAP) -> EnergyMeter:
    """A meter for the device that an engine of this backend computes on."""
    if backend == "cpu":
        rapl = RaplCounter(powercap)
        return EnergyMeter("rapl", rapl) if rapl.read() else EnergyMeter(None, None)
    if backend == "cuda":
        nvml = open_nvml()
        return EnergyMeter("nvml", nvml) if nvml and nvml.read() else EnergyMeter(None, None)
    return EnergyMeter(None, None)


def availability(gpus: Iterable[Gpu], *, powercap: Path = POWERCAP) -> tuple[str, str | None]:
    """Which energy counters of this machine are readable, and what would change that."""
    nvml: NvmlCounter | None = open_nvml() if any(g.vendor == "nvidia" for g in gpus) else None
    rapl = RaplCounter(powercap)
    readable = [
        name
        for name, counter in (("NVIDIA GPU", nvml), ("processor", rapl))
        if counter is not None and counter.read()
    ]
    if readable:
        return f"counters of {' and '.join(readable)} are readable", None
    if rapl.exists:
        # Since Linux 5.10 (CVE-2020-8694): the counter leaks what a program computes.
        remedy = f"only root may read {powercap}/intel-rapl:*/energy_uj; results come without it"
        return "not measured", remedy
    return "not measured: this machine has no counter", None
