"""Read the energy counters of NVIDIA cards (NVML)."""

from typing import Any

import pynvml

from harness.machine.nvidia import CardId, Visible, visible

_MILLIJOULES = 1000


class NvmlCounter:
    """The counters of the cards that this program may use, in millijoules."""

    def __init__(self, library: Any, usable: Visible | None = None) -> None:  # noqa: ANN401 - pynvml has no types
        """Connect. Raises `pynvml.NVMLError` without a driver."""
        library.nvmlInit()
        self._library = library
        count = library.nvmlDeviceGetCount()
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        if usable is not None and usable.variable is not None:
            addresses = [library.nvmlDeviceGetPciInfo(handle).busId for handle in handles]
            known = [
                CardId(
                    uuid=library.nvmlDeviceGetUUID(handle),
                    address=address.decode() if isinstance(address, bytes) else address,
                )
                for handle, address in zip(handles, addresses, strict=True)
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


def open_nvml(library: Any = pynvml) -> NvmlCounter | None:  # noqa: ANN401 - pynvml has no types
    """The counters, if there is a driver to ask."""
    try:
        return NvmlCounter(library, visible())
    except pynvml.NVMLError:
        return None
