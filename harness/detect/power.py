"""Does the machine run on battery? What psutil can tell."""

from __future__ import annotations

import psutil


def on_battery() -> bool | None:
    """Whether it runs on battery; `None` without a battery or where it cannot be read."""
    read = getattr(psutil, "sensors_battery", None)  # missing on some systems
    battery = read() if read else None
    if battery is None or battery.power_plugged is None:
        return None
    return not battery.power_plugged
