"""Check the machine: CPU, GPUs, memory, disk, power, load and clock."""

from collections.abc import Callable

from estimates.system_load import in_use
from harness.doctor.check import Check
from schemas.submission import Machine, Snapshot
from schemas.vocabulary import say

_GIB_IN_MIB = 1024
_MIB = 1024 * 1024
# The default campaign: F16 target, Q4_1 draft, context and engine take about 0.6 GiB.
_NEEDED_RAM_MIB = 1024
_NEEDED_DISK_MIB = 1024
_STEAL_LIMIT = 0.05
_BUSY_SHARE = 0.5
_PRESSURE_LIMIT = 0.2
_COARSE_CLOCK_S = 1e-5
_CLOCK_READINGS = 50


def processor(machine: Machine) -> Check:
    cores = f"{machine.cpu.physical_cores or '?'} cores, {machine.cpu.logical_cores} threads usable"
    return Check("Processor", "ok", f"{machine.cpu.name}, {cores}")


def gpu(machine: Machine) -> Check:
    if not machine.gpus:
        return Check("GPU", "ok", "no GPU found; the CPU will be measured")
    names = [f"{g.name}, {g.vram_mib} MiB" if g.vram_mib else g.name for g in machine.gpus]
    return Check("GPU", "ok", "; ".join(names))


def memory(total_mib: int, available_mib: int) -> Check:
    free, total = available_mib / _GIB_IN_MIB, total_mib / _GIB_IN_MIB
    found = f"{free:.1f} of {total:.1f} GiB available"
    if available_mib < _NEEDED_RAM_MIB:
        return Check(
            "Memory", "fail", found, "Close other programs: the default campaign needs 1 GiB."
        )
    return Check("Memory", "ok", found)


def disk(free_bytes: int) -> Check:
    found = f"{free_bytes / _MIB / _GIB_IN_MIB:.1f} GiB free for models"
    if free_bytes < _NEEDED_DISK_MIB * _MIB:
        remedy = "Free 1 GiB, or set DRAFTMAP_CACHE to a directory on another disk."
        return Check("Disk", "fail", found, remedy)
    return Check("Disk", "ok", found)


def power(*, on_battery: bool | None) -> Check:
    if on_battery:
        return Check(
            "Power",
            "warn",
            "on battery",
            "Plug the machine in: on battery, clocks are lower and vary.",
        )
    return Check("Power", "ok", "no battery in use" if on_battery is None else "mains")


def load(state: Snapshot, cores: int) -> Check:
    parts = []
    if state.load_1min is not None:
        parts.append(f"load {state.load_1min:.1f} on {cores} cores")
    if state.busy_fraction is not None:
        parts.append(f"{say.percent(state.busy_fraction)} of the CPU in use")
    if state.steal_fraction is not None:
        parts.append(f"{say.percent(state.steal_fraction)} of CPU time stolen by the hypervisor")
    if state.cpu_pressure is not None:
        parts.append(f"tasks waited for the CPU {say.percent(state.cpu_pressure)} of the time")
    shown = ", ".join(parts) or "unknown"
    if (state.steal_fraction or 0.0) > _STEAL_LIMIT:
        remedy = (
            "The host is shared and busy. Paired blocks compensate for other load; use --blocks 6."
        )
        return Check("Load", "warn", shown, remedy)
    if in_use(state, cores) > _BUSY_SHARE or (state.cpu_pressure or 0.0) > _PRESSURE_LIMIT:
        return Check("Load", "warn", shown, "Close other programs, wait a minute, then measure.")
    return Check("Load", "ok", shown)


def clock(read: Callable[[], float]) -> Check:
    """Check whether the clock is precise enough to time single rounds."""
    steps = []
    for _ in range(_CLOCK_READINGS):
        start = now = read()
        while now == start:
            now = read()
        steps.append(now - start)
    resolution_s = min(steps)
    found = f"resolves {resolution_s * 1e6:.2f} µs"
    if resolution_s > _COARSE_CLOCK_S:
        remedy = (
            "This clock cannot time rounds shorter than a millisecond accurately; use a "
            "larger model."
        )
        return Check("Clock", "warn", found, remedy)
    return Check("Clock", "ok", found)
