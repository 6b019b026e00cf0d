"""The doctor's checks: what was found, whether it is good enough, and what to do."""

import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from estimates.load import in_use
from harness.machine.command import INSTALL_ENGINE, PACKAGE, SERVER_PROGRAM, vendored_commit
from schemas.submission import Device, Gpu, Machine, Snapshot
from schemas.vocabulary import say

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor's report. `remedy` is there unless all is well."""

    name: str
    status: Status
    found: str
    remedy: str | None = None


def ok(name: str, found: str) -> Check:
    """A check that found nothing to worry about."""
    return Check(name=name, status="ok", found=found)


def warn(name: str, found: str, remedy: str) -> Check:
    """A check that found what may distort figures or slow things down."""
    return Check(name=name, status="warn", found=found, remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Check:
    """A check that found what keeps a run from working."""
    return Check(name=name, status="fail", found=found, remedy=remedy)


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
    """Which processor there is, and how many cores may be used."""
    cores = f"{machine.cpu.physical_cores or '?'} cores, {machine.cpu.logical_cores} threads usable"
    return ok("Processor", f"{machine.cpu.name}, {cores}")


def gpu(machine: Machine) -> Check:
    """Which GPUs the system lists."""
    if not machine.gpus:
        return ok("GPU", "none seen; the CPU will be measured")
    names = [f"{g.name}, {g.vram_mib} MiB" if g.vram_mib else g.name for g in machine.gpus]
    return ok("GPU", "; ".join(names))


def memory(total_mib: int, available_mib: int) -> Check:
    """Whether there is memory for the default campaign."""
    free, total = available_mib / _GIB_IN_MIB, total_mib / _GIB_IN_MIB
    found = f"{free:.1f} of {total:.1f} GiB available"
    if available_mib < _NEEDED_RAM_MIB:
        return fail("Memory", found, "Close programs: the default campaign needs 1 GiB.")
    return ok("Memory", found)


def disk(free_bytes: int) -> Check:
    """Whether there is room for models in the cache."""
    found = f"{free_bytes / _MIB / _GIB_IN_MIB:.1f} GiB free for models"
    if free_bytes < _NEEDED_DISK_MIB * _MIB:
        remedy = "Free 1 GiB, or set DRAFTMAP_CACHE to a directory on another disk."
        return fail("Disk", found, remedy)
    return ok("Disk", found)


def power(*, on_battery: bool | None) -> Check:
    """Whether the machine runs on mains."""
    if on_battery:
        return warn("Power", "on battery", "Plug it in: on battery, clocks are lower and vary.")
    return ok("Power", "no battery in use" if on_battery is None else "mains")


def energy(found: str, obstacle: str | None) -> Check:
    """Whether results will tell the energy per token; they are as good without it."""
    return ok("Energy", found if obstacle is None else f"{found}: {obstacle}")


def load(state: Snapshot, cores: int) -> Check:
    """Whether something else uses the processor."""
    parts = []
    if state.load_1min is not None:
        parts.append(f"load {state.load_1min:.1f} on {cores} cores")
    if state.busy_fraction is not None:
        parts.append(f"{say.percent(state.busy_fraction)} of it in use")
    if state.steal_fraction is not None:
        parts.append(f"{say.percent(state.steal_fraction)} stolen by the hypervisor")
    if state.cpu_pressure is not None:
        parts.append(f"tasks waited {say.percent(state.cpu_pressure)} of the time")
    found = ", ".join(parts) or "unknown"
    if (state.steal_fraction or 0.0) > _STEAL_LIMIT:
        remedy = "The host is shared and busy. Paired blocks compensate for it; use --blocks 6."
        return warn("Load", found, remedy)
    if in_use(state, cores) > _BUSY_SHARE or (state.cpu_pressure or 0.0) > _PRESSURE_LIMIT:
        return warn("Load", found, "Close other programs, wait a minute, then measure.")
    return ok("Load", found)


def clock(read: Callable[[], float]) -> Check:
    """Whether the clock is fine enough to time single rounds."""
    steps = []
    for _ in range(_CLOCK_READINGS):
        start = now = read()
        while now == start:
            now = read()
        steps.append(now - start)
    resolution_s = min(steps)
    found = f"resolves {resolution_s * 1e6:.2f} µs"
    if resolution_s > _COARSE_CLOCK_S:
        remedy = "Rounds of less than a millisecond cannot be timed well; use a larger model."
        return warn("Clock", found, remedy)
    return ok("Clock", found)


REINSTALL = f"pip install --force-reinstall --no-cache-dir {PACKAGE}"
PORTABLE_REINSTALL = f'CMAKE_ARGS="-DGGML_NATIVE=OFF" {REINSTALL}'
_OLDEST_PYTHON = (3, 11)
_COMPILERS = ("c++", "g++", "clang++", "cl")
# The build option that makes the binding use a vendor's GPUs.
_BUILD_OPTIONS = {"nvidia": "-DGGML_CUDA=ON", "amd": "-DGGML_HIP=ON", "apple": "-DGGML_METAL=ON"}
_ANY_GPU_OPTION = "-DGGML_VULKAN=ON"
_GPU_KINDS = ("gpu", "igpu")


def python(version: tuple[int, int] = sys.version_info[:2]) -> Check:
    """Whether this Python is new enough."""
    found = f"{platform.python_version()}"
    if version < _OLDEST_PYTHON:
        return fail("Python", found, "Install Python 3.11 or newer and set the project up with it.")
    return ok("Python", found)


def compiler(found: str | None = None) -> Check:
    """Whether there is a C++ compiler, which only installing the binding needs."""
    name = found or next((c for c in _COMPILERS if shutil.which(c)), None)
    if name is None:
        remedy = f"Only needed to install {PACKAGE} again: install g++, clang or Visual Studio."
        return warn("Compiler", "no C++ compiler", remedy)
    return ok("Compiler", name)


def binding(version: str | None, server: str | None = None) -> Check:
    """Whether the binding is installed, and which engine it contains; else there is a server."""
    if version is None and server is not None:
        return ok("Binding", f"{PACKAGE} is not installed; runs use {server}")
    if version is None:
        remedy = f"{INSTALL_ENGINE[:1].upper()}{INSTALL_ENGINE[1:]}"
        return fail("Binding", f"{PACKAGE} is not installed, nor is a {SERVER_PROGRAM}", remedy)
    commit = vendored_commit(version)
    engine = f" with llama.cpp {commit}" if commit else ""
    return ok("Binding", f"{PACKAGE} {version}{engine}")


def backend(devices: Sequence[Device] | None, gpus: Sequence[Gpu]) -> Check:
    """Whether the binding can use the GPUs of this machine. `None`: it did not even load."""
    if devices is None:
        return fail("Backend", "the engine's libraries do not load", f"Run: {PORTABLE_REINSTALL}")
    listed = ", ".join(f"{d.name} ({d.description})" if d.description else d.name for d in devices)
    if gpus and not any(device.kind in _GPU_KINDS for device in devices):
        vendors = (gpu.vendor or "" for gpu in gpus)
        options = (_BUILD_OPTIONS[vendor] for vendor in vendors if vendor in _BUILD_OPTIONS)
        option = next(options, _ANY_GPU_OPTION)
        remedy = (
            f"This machine has {say.listed([gpu.name for gpu in gpus])}, "
            "but the binding was built for the CPU only. "
            f'Run: CMAKE_ARGS="{option}" {REINSTALL}'
        )
        return warn("Backend", listed, remedy)
    return ok("Backend", listed)


def server_devices(listed: Sequence[Device], gpus: Sequence[Gpu]) -> Check:
    """Whether a llama-server sees the GPUs of this machine."""
    if listed:
        return ok("Backend", ", ".join(f"{each.name} ({each.description})" for each in listed))
    if gpus:
        remedy = "Install its driver, or name a server built for it with --server-binary."
        return warn(
            "Backend", f"the server does not see {say.listed([g.name for g in gpus])}", remedy
        )
    return ok("Backend", "the processor")
