"""Take snapshots of the machine's state: load, clocks, power, temperature."""

import platform
from pathlib import Path

import psutil

from harness.machine import linux, macos, nvidia
from schemas.rig import Moment, Snapshot

_MIB = 1024 * 1024
# Seconds to sample: a hundred ticks of the kernel's clock on one core.
SAMPLE_S = 1.0
# CPU times in Linux's order. Guest time follows these eight and is part of user time.
_STEAL, _ADDED = 7, 8


def on_battery() -> bool | None:
    read = getattr(psutil, "sensors_battery", None)  # missing on some systems
    battery = read() if read else None
    if battery is None or battery.power_plugged is None:
        return None
    return not battery.power_plugged


class Watch:
    """Takes snapshots of the machine's state; CPU steal is counted from the watch's creation on."""

    def __init__(self) -> None:
        self._start = psutil.cpu_times()

    def snapshot(self, moment: Moment) -> Snapshot:
        """Return the machine's state; at the moment `before`, the CPU load is sampled first."""
        begins, windows = moment == "before", platform.system() == "Windows"
        busy = psutil.cpu_percent(interval=SAMPLE_S) / 100 if begins else None
        gpu = nvidia.state()
        if gpu == nvidia.GpuState() and platform.system() == "Linux":
            gpu = linux.state(Path("/sys/class/drm"))
        return Snapshot(
            moment=moment,
            # On Windows psutil counts from its first call, so the first result is a wrong 0.
            load_1min=None if windows else psutil.getloadavg()[0],
            load_15min=psutil.getloadavg()[2] if begins and not windows else None,
            steal_fraction=steal_fraction(self._start, psutil.cpu_times()),
            busy_fraction=busy,
            cpu_pressure=linux.parse_pressure(linux.text_of(Path("/proc/pressure/cpu"))),
            cpu_mhz=_clock_mhz(),
            cpu_speed_limit=macos.speed_limit() if platform.system() == "Darwin" else None,
            on_battery=on_battery(),
            gpu_clock_mhz=gpu.clock_mhz,
            gpu_temperature_c=gpu.temperature_c,
            gpu_power_w=gpu.power_w,
            gpu_throttled=gpu.throttled,
            available_ram_mib=psutil.virtual_memory().available // _MIB,
        )


def steal_fraction(earlier: tuple[float, ...], later: tuple[float, ...]) -> float | None:
    """Return the share of CPU time that the hypervisor took between two readings; Linux only."""
    if not hasattr(later, "steal"):
        return None
    spent = [after - before for before, after in zip(earlier, later, strict=True)]
    total = sum(spent[:_ADDED])
    return min(1.0, max(0.0, spent[_STEAL] / total)) if total > 0 else None


def _clock_mhz() -> float | None:
    try:
        clock = psutil.cpu_freq()
    except (OSError, RuntimeError):  # raised by psutil if the value is unknown
        return None
    return clock.current if clock is not None and clock.current >= 1 else None
