"""How much energy did the NVIDIA GPUs take? The counter of NVML, from the driver, since Volta.

It covers whole cards and every card of the machine; the driver renews it some ten to fifty times a
second, so that a trial should take a second or more.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import pynvml

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

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> int:  # noqa: N802, ANN401
        """Millijoules since the driver was loaded."""
        ...


class NvmlCounter:
    """The counters of all cards, in millijoules."""

    def __init__(self, library: Library) -> None:
        """Connect. Raises `pynvml.NVMLError` without a driver."""
        library.nvmlInit()
        self._library = library
        count = library.nvmlDeviceGetCount()
        self._cards = [library.nvmlDeviceGetHandleByIndex(index) for index in range(count)]

    def read(self) -> tuple[int, ...] | None:
        """Millijoules of each card; `None` where a card is too old or its driver refuses."""
        try:
            values = [self._library.nvmlDeviceGetTotalEnergyConsumption(c) for c in self._cards]
        except pynvml.NVMLError:
            return None
        return tuple(values) or None

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float | None:
        """Joules between two readings; `None` if the driver was loaded anew in between."""
        spent_mj = [ended - began for began, ended in zip(before, after, strict=True)]
        return None if min(spent_mj) < 0 else sum(spent_mj) / _MILLIJOULES


def open_nvml(library: Library | None = None) -> NvmlCounter | None:
    """The counters, if there is a driver to ask."""
    try:
        return NvmlCounter(library or cast("Library", pynvml))
    except pynvml.NVMLError:
        return None
