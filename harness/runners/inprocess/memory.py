"""Measure the memory that a loaded model uses."""

import psutil

from harness.runners.devices import memory_free_mib
from schemas.submission import DeviceMemory

_MIB = 1024 * 1024


class MemoryMeter:
    """Compares each device's free memory with what was free when the meter was made."""

    def __init__(self) -> None:
        self._free_mib = memory_free_mib()

    def in_use(self) -> tuple[DeviceMemory, ...]:
        """Main memory of this process, and what each GPU has less of than at the beginning."""
        resident_mib = psutil.Process().memory_info().rss // _MIB
        return (
            DeviceMemory(device="CPU", peak_mib=resident_mib),
            *(
                DeviceMemory(device=name, peak_mib=max(before_mib - after_mib, 0))
                for (name, before_mib), (_, after_mib) in zip(
                    self._free_mib.items(), memory_free_mib().items(), strict=True
                )
            ),
        )
