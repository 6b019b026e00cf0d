"""Take snapshots of the machine's state: load, clocks, power, temperature."""

import platform
import re
from pathlib import Path

import psutil

from harness.machine import linux, macos, nvidia
from harness.machine.command import output
from schemas.rig import Moment, PowerMode, Snapshot

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


# The names of power modes by system: macOS, Linux and its drivers, and the identifiers of Windows.
_MODES: dict[str, PowerMode] = {
    "0": "balanced", "1": "low", "2": "high",
    "low-power": "low", "quiet": "low", "cool": "low", "balanced": "balanced",
    "balanced-performance": "high", "performance": "high",
    "a1841308-3541-4fab-bc81-f71556f20b4a": "low",
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "high", "e9a42b02-d5df-448d-aa00-03f14749eb61": "high",
}  # fmt: skip
_STATED = re.compile(
    r"^[ \t]*(?:low)?powermode[ \t]+([012])\b|^Power Scheme GUID: ([0-9a-f-]{36})\b|^([a-z-]+)$",
    re.MULTILINE | re.IGNORECASE,
)


def power_mode() -> PowerMode | None:
    """Return the power mode of macOS (`pmset -g`), Windows or Linux; `None` if it is unknown."""
    match platform.system():
        case "Darwin":
            return parse_power_mode(output("pmset", "-g") or "")
        case "Windows":
            return parse_power_mode(output("powercfg", "/getactivescheme") or "")
    return parse_power_mode(linux.text_of(Path("/sys/firmware/acpi/platform_profile")))


def parse_power_mode(text: str) -> PowerMode | None:
    """Return the power mode in the output of `pmset -g` or `powercfg`, or in Linux's profile.

    Older Macs state `lowpowermode 1`; a Mac with a high-power mode states `powermode 2`.
    """
    found = _STATED.search(text)
    return _MODES.get((found[1] or found[2] or found[3]).lower()) if found else None


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
