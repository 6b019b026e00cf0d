"""How many joules did something take? The difference of a hardware counter, where one is readable.

The counter must count the device that computes: the processor's own for the CPU, the card's for an
NVIDIA GPU. Where it does not, or may not be read, there is no figure; nothing is ever estimated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from harness.detect.energy_nvml import NvmlCounter, open_nvml
from harness.detect.energy_rapl import POWERCAP, RaplCounter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from schemas.submission import Gpu

Method = Literal["nvml", "rapl"]


class Counter(Protocol):
    """Energy counters of all devices of one kind."""

    def read(self) -> tuple[int, ...] | None:
        """The counters now, in units of their own; `None` when they cannot be read."""
        ...

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float | None:
        """What was used between two readings, over all devices."""
        ...


class Meter:
    """Measures the energy of one thing after the other. `method` is `None` where it cannot."""

    def __init__(self, method: Method | None, counter: Counter | None) -> None:
        self.method = method
        self._counter = counter
        self._began: tuple[int, ...] | None = None

    def start(self) -> None:
        """Read the counter; to be called outside every clock."""
        self._began = self._counter.read() if self._counter else None

    def stop(self) -> float | None:
        """Joules since `start`."""
        ended = self._counter.read() if self._counter else None
        if self._counter is None or self._began is None or ended is None:
            return None
        # A counter that stood still was not renewed in so short a time; that is not 0 joules.
        return self._counter.joules(self._began, ended) or None


def meter(backend: str, *, powercap: Path = POWERCAP) -> Meter:
    """A meter for the device that an engine of this backend computes on."""
    if backend == "cpu":
        rapl = RaplCounter(powercap)
        return Meter("rapl", rapl) if rapl.read() else Meter(None, None)
    if backend == "cuda":
        nvml = open_nvml()
        return Meter("nvml", nvml) if nvml and nvml.read() else Meter(None, None)
    return Meter(None, None)


def availability(gpus: Iterable[Gpu], *, powercap: Path = POWERCAP) -> tuple[str, str | None]:
    """What of this machine's energy can be measured, and what would change that."""
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
        # Since Linux 5.10 (CVE-2020-8694): the counter's course betrays what a program computes.
        remedy = f"only root may read {powercap}/intel-rapl:*/energy_uj; results come without it"
        return "not measured", remedy
    return "not measured: this machine shows no counter", None
