"""Read the energy counters of Intel and AMD processors (RAPL)."""

import re
from pathlib import Path

from harness.machine.linux import text_of

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
            if _ZONE.fullmatch(zone.name) and text_of(zone / "name").startswith("package")
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


def _whole(path: Path) -> int | None:
    text = text_of(path)
    return int(text) if text.isdecimal() else None
