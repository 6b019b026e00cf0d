"""Describes the machine: parts and memory; never host name, owner, serial numbers or paths."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson
import psutil

from harness.machine import linux, nvidia
from harness.machine.command import output
from harness.machine.environment import on_battery
from schemas.submission import Cpu, Gpu, Machine, OperatingSystem

_UNITS_MIB = {"MB": 1, "GB": 1024}


def macos_cpu_name() -> str | None:
    """`Apple M3 Pro` or an Intel name."""
    text = output("sysctl", "-n", "machdep.cpu.brand_string")
    return text.strip() or None if text else None


def macos_virtual_machine() -> bool | None:
    """Whether macOS runs under a hypervisor."""
    text = output("sysctl", "-n", "kern.hv_vmm_present")
    return text.strip() == "1" if text else None


def gpus() -> tuple[Gpu, ...]:
    """The GPUs that macOS lists."""
    text = output("system_profiler", "-json", "SPDisplaysDataType")
    return parse_displays(text) if text else ()


def parse_displays(text: str) -> tuple[Gpu, ...]:
    """The GPUs in the answer of `system_profiler -json SPDisplaysDataType`.

    Apple's own GPUs share main memory and list no VRAM.
    """
    try:
        entries = orjson.loads(text).get("SPDisplaysDataType", [])
    except orjson.JSONDecodeError:
        return ()
    named = [(str(e.get("sppci_model") or e.get("_name") or ""), e) for e in entries]
    return tuple(_gpu(name, entry) for name, entry in named if name)


def _gpu(name: str, entry: dict[str, object]) -> Gpu:
    metal = str(entry.get("spdisplays_mtlgpufamilysupport") or "")
    version = re.fullmatch(r"spdisplays_metal(\d+)", metal)
    memory = re.fullmatch(r"(\d+) (MB|GB)", str(entry.get("spdisplays_vram") or ""))
    vendor = next((v for v in ("apple", "amd", "intel", "nvidia") if v in name.lower()), None)
    return Gpu(
        name=name,
        vendor=vendor,  # type: ignore[arg-type]  # one of the four, or none
        vram_mib=int(memory[1]) * _UNITS_MIB[memory[2]] if memory else None,
        api=f"Metal {version[1]}" if version else None,
    )


_QUERY = (
    "@{cpu=@(Get-CimInstance Win32_Processor | Select-Object Name);"
    "gpu=@(Get-CimInstance Win32_VideoController | Select-Object Name,DriverVersion);"
    "ram=@(Get-CimInstance Win32_PhysicalMemory | Select-Object ConfiguredClockSpeed,"
    "SMBIOSMemoryType)} | ConvertTo-Json -Depth 3 -Compress"
)
# Type numbers of the SMBIOS specification, table "Memory Device - Type".
_MEMORY_TYPES = {24: "DDR3", 26: "DDR4", 27: "LPDDR", 30: "LPDDR4", 34: "DDR5", 35: "LPDDR5"}
_VENDORS = ("nvidia", "amd", "intel", "qualcomm")
# Drivers without hardware: remote desktops and the fallback.
_NOT_A_GPU = ("microsoft basic", "remote display", "virtual display")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What CIM knows: processor, GPUs (their memory is unreliable there) and memory."""

    cpu_name: str | None = None
    gpus: tuple[Gpu, ...] = ()
    ram_type: str | None = None
    ram_mts: int | None = None


def windows_parts() -> Parts:
    """The parts of this machine."""
    text = output("powershell", "-NoProfile", "-NonInteractive", "-Command", _QUERY)
    return parse_parts(text) if text else Parts()


def parse_parts(text: str) -> Parts:
    """The parts in the answer to the query above."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return Parts()
    memory: dict[str, object] = next(iter(document.get("ram") or []), {})
    speed = memory.get("ConfiguredClockSpeed")
    cpu: dict[str, str] = next(iter(document.get("cpu") or []), {})
    found = (_gpu_windows(entry) for entry in document.get("gpu") or [])
    return Parts(
        cpu_name=(cpu.get("Name") or "").strip() or None,
        gpus=tuple(gpu for gpu in found if gpu is not None),
        ram_type=next(
            (t for n, t in _MEMORY_TYPES.items() if n == memory.get("SMBIOSMemoryType")), None
        ),
        ram_mts=speed if isinstance(speed, int) and speed > 0 else None,
    )


def _gpu_windows(entry: dict[str, str]) -> Gpu | None:
    name = (entry.get("Name") or "").strip()
    if not name or any(word in name.lower() for word in _NOT_A_GPU):
        return None
    vendor = next((word for word in _VENDORS if word in name.lower()), None)
    return Gpu(
        name=name,
        vendor=vendor,  # type: ignore[arg-type]  # one of the four, or none
        driver=entry.get("DriverVersion") or None,
    )


Family = Literal["linux", "macos", "windows", "freebsd", "other"]
Architecture = Literal["x86_64", "aarch64", "riscv64", "ppc64le", "other"]

_FAMILIES: dict[str, Family] = {
    "Linux": "linux",
    "Darwin": "macos",
    "Windows": "windows",
    "FreeBSD": "freebsd",
}
_ARCHITECTURES: dict[str, Architecture] = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "aarch64",
    "arm64": "aarch64",
    "riscv64": "riscv64",
    "ppc64le": "ppc64le",
}
_MIB = 1024 * 1024
_NAME_LENGTH = 120


def machine() -> Machine:
    """The machine that this runs on, as the result file describes it."""
    cpuinfo = _read(Path("/proc/cpuinfo"))
    parts = windows_parts() if platform.system() == "Windows" else Parts()
    cards = nvidia.cards()
    return Machine(
        os=OperatingSystem(family=_FAMILIES.get(platform.system(), "other"), version=_version()),
        cpu=_cpu(cpuinfo, parts),
        ram_mib=psutil.virtual_memory().total // _MIB,
        gpus=cards.gpus + _other_gpus(parts),
        ram_type=parts.ram_type,
        ram_mts=parts.ram_mts,
        virtual_machine=_virtual_machine(cpuinfo),
        on_battery=on_battery(),
        desktop_on_gpu=cards.display_active,
    )


def kernel_version(release: str) -> str | None:
    """The first two or three numbers of a release: the rest can name a machine's owner."""
    match = re.match(r"\d+(?:\.\d+){0,2}", release)
    return match[0] if match else None


def clean_name(name: str) -> str:
    """A marketing name without trademark signs, doubled spaces and forbidden characters."""
    text = re.sub(r"\((?:R|TM|C)\)|[\x00-\x1f<>]", " ", name, flags=re.IGNORECASE)
    return " ".join(text.split())[:_NAME_LENGTH] or "unknown"


def _version() -> str | None:
    release = platform.mac_ver()[0] if platform.system() == "Darwin" else platform.release()
    return kernel_version(release)


def _cpu(cpuinfo: str, parts: Parts) -> Cpu:
    name = linux.parse_cpu_name(cpuinfo) or parts.cpu_name
    if name is None and platform.system() == "Darwin":
        name = macos_cpu_name()
    architecture = _ARCHITECTURES.get(platform.machine().lower(), "other")
    return Cpu(
        name=clean_name(name or platform.processor() or architecture),
        architecture=architecture,
        logical_cores=usable_cores(),
        physical_cores=psutil.cpu_count(logical=False),
    )


def usable_cores() -> int:
    """Logical cores that this process may use, which in a container are often not all."""
    if platform.system() == "Linux":
        return len(os.sched_getaffinity(0))
    return psutil.cpu_count() or os.cpu_count() or 1


def _other_gpus(parts: Parts) -> tuple[Gpu, ...]:
    if platform.system() == "Darwin":
        return gpus()
    if platform.system() == "Linux":
        names = linux.parse_lspci(output("lspci", "-D", "-mm") or "")
        return linux.gpus(Path("/sys/class/drm"), names)
    return tuple(gpu for gpu in parts.gpus if gpu.vendor != "nvidia")


def _virtual_machine(cpuinfo: str) -> bool | None:
    if platform.system() == "Darwin":
        return macos_virtual_machine()
    return linux.parse_virtual_machine(cpuinfo)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
