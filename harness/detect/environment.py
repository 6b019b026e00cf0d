"""In what state is the machine at this moment? Load, steal, clocks, temperature, power source."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psutil

from harness.detect import linux, nvidia
from harness.detect.power import on_battery
from schemas.submission import Snapshot

if TYPE_CHECKING:
    from harness.detect.linux import CpuTimes

_MIB = 1024 * 1024


def cpu_times() -> CpuTimes | None:
    """Ticks of all processors so far, to pass to a later `snapshot`; `None` off Linux."""
    return linux.parse_cpu_times(_read(Path("/proc/stat")))


def snapshot(
    moment: Literal["before", "after", "during"], *, since: CpuTimes | None = None
) -> Snapshot:
    """The state now. The share of stolen processor time is counted from `since`."""
    now = cpu_times()
    gpu = nvidia.state()
    return Snapshot(
        moment=moment,
        load_1min=_load(),
        steal_fraction=linux.steal_fraction(since, now) if since and now else None,
        cpu_pressure=linux.parse_pressure(_read(Path("/proc/pressure/cpu"))),
        cpu_mhz=_clock_mhz(),
        on_battery=on_battery(),
        gpu_clock_mhz=gpu.clock_mhz,
        gpu_temperature_c=gpu.temperature_c,
        gpu_power_w=gpu.power_w,
        gpu_throttled=gpu.throttled,
        available_ram_mib=psutil.virtual_memory().available // _MIB,
    )


def _load() -> float | None:
    # On Windows psutil counts from its first call on, so the first answer would be a wrong 0.
    return None if platform.system() == "Windows" else psutil.getloadavg()[0]


def _clock_mhz() -> float | None:
    try:
        clock = psutil.cpu_freq()
    except (OSError, RuntimeError, NotImplementedError):  # as psutil does on machines without it
        return None
    return clock.current if clock is not None and clock.current >= 1 else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
