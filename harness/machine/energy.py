"""Measures energy with a hardware counter, where one is readable.

The counter must count the device that computes: the processor's own for the CPU, the card's for an
NVIDIA GPU. Where it does not, or may not be read, there is no figure; nothing is ever estimated.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import pynvml

from harness.machine.nvidia import Identity, Visible, visible
from schemas.submission import Gpu

POWERCAP = Path("/sys/class/powercap")
_ZONE = re.compile(r"intel-rapl:\d+")
_MICROJOULES = 1_000_000


class RaplCounter:
    """The packages' counters below a powercap directory, in microjoules."""

    def __init__(self, powercap: Path = POWERCAP) -> None:
        zones = sorted(powercap.iterdir()) if powercap.is_dir() else []
        self._packages = [
            zone
            for zone in zones
            if _ZONE.fullmatch(zone.name) and (_text(zone / "name") or "").startswith("package")
        ]
        self._ranges = [_whole(zone / "max_energy_range_uj") for zone in self._packages]

    @property
    def exists(self) -> bool:
        """Whether there is a counter, readable or not."""
        return bool(self._packages)

    def read(self) -> tuple[int, ...] | None:
        """Microjoules of each package; `None` without a package or without the right to read it."""
        values = [_whole(zone / "energy_uj") for zone in self._packages]
        known = tuple(value for value in values if value is not None)
        return known if known and len(known) == len(values) else None

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float | None:
        """Joules between two readings; a counter restarts at 0 when it reaches its range."""
        spent_uj = 0
        for began, ended, wraps_at in zip(before, after, self._ranges, strict=True):
            if ended < began and wraps_at is None:
                return None
            spent_uj += ended - began + (wraps_at or 0 if ended < began else 0)
        return spent_uj / _MICROJOULES


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return None


def _whole(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdecimal() else None


_MILLIJOULES = 1000


class Library(Protocol):
    """The part of `pynvml` that is used."""

    def nvmlInit(self) -> None:  # noqa: N802 - NVIDIA's name
        """Connect to the driver."""
        ...

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        """How many cards there are."""
        ...

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:  # noqa: N802, ANN401 - an opaque pointer
        """One card."""
        ...

    def nvmlDeviceGetUUID(self, handle: Any) -> str:  # noqa: N802, ANN401
        """`GPU-` and a UUID."""
        ...

    def nvmlDeviceGetPciInfo(self, handle: Any) -> Any:  # noqa: N802, ANN401
        """The PCI address, as `busId` of a structure."""
        ...

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> int:  # noqa: N802, ANN401
        """Millijoules since the driver was loaded."""
        ...


class NvmlCounter:
    """The counters of the cards that this program may use, in millijoules."""

    def __init__(self, library: Library, usable: Visible | None = None) -> None:
        """Connect. Raises `pynvml.NVMLError` without a driver."""
        library.nvmlInit()
        self._library = library
        count = library.nvmlDeviceGetCount()
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        if usable is not None and usable.variable is not None:
            known = [
                Identity(
                    uuid=library.nvmlDeviceGetUUID(handle),
                    address=_text_of(library.nvmlDeviceGetPciInfo(handle).busId),
                )
                for handle in handles
            ]
            handles = [handles[at] for at in usable.of(known)]
        self._cards = handles

    def read(self) -> tuple[int, ...] | None:
        """Millijoules of each card; `None` where a card is too old or its driver refuses."""
        try:
            values = [self._library.nvmlDeviceGetTotalEnergyConsumption(c) for c in self._cards]
        except pynvml.NVMLError:
            return None
        return tuple(values) or None

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float | None:
        """Joules between two readings; `None` if the driver was reloaded in between."""
        spent_mj = [ended - began for began, ended in zip(before, after, strict=True)]
        return None if min(spent_mj) < 0 else sum(spent_mj) / _MILLIJOULES


def _text_of(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def open_nvml(library: Library | None = None) -> NvmlCounter | None:
    """The counters, if there is a driver to ask."""
    try:
        return NvmlCounter(library or cast("Library", pynvml), visible())
    except pynvml.NVMLError:
        return None


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
    """Measures the energy of one interval after the other. `method` is `None` where it cannot."""

    def __init__(self, method: Method | None, counter: Counter | None) -> None:
        self.method = method
        self._counter = counter
        self._start: tuple[int, ...] | None = None

    def start(self) -> None:
        """Read the counter; to be called outside every clock."""
        self._start = self._counter.read() if self._counter else None

    def stop(self) -> float | None:
        """Joules since `start`."""
        ended = self._counter.read() if self._counter else None
        if self._counter is None or self._start is None or ended is None:
            return None
        # A counter that did not change was not updated in so short a time; that is not 0 joules.
        return self._counter.joules(self._start, ended) or None


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
