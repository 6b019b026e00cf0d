"""Parses what Linux tells in /proc and /sys."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schemas.submission import Gpu

_STEAL_FIELD = 7
# Guest time is contained in user time, so only the first eight fields add up to the total.
_ADDED_FIELDS = 8
# Boards of ARM machines name no processor in /proc/cpuinfo, only its parts.
_NAME_KEYS = ("model name", "Hardware", "cpu model", "uarch")


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTimes:
    """Clock ticks of all processors since the start: in total, and taken by the hypervisor."""

    total: int
    stolen: int


def parse_cpu_times(stat: str) -> CpuTimes | None:
    """The first line of /proc/stat."""
    fields = stat.partition("\n")[0].split()
    if len(fields) <= _ADDED_FIELDS or fields[0] != "cpu":
        return None
    ticks = [int(field) for field in fields[1 : _ADDED_FIELDS + 1]]
    return CpuTimes(total=sum(ticks), stolen=ticks[_STEAL_FIELD])


def steal_fraction(earlier: CpuTimes, later: CpuTimes) -> float | None:
    """Share of processor time that the hypervisor took between two readings."""
    total = later.total - earlier.total
    if total <= 0:
        return None
    return min(1.0, max(0.0, (later.stolen - earlier.stolen) / total))


def parse_pressure(text: str) -> float | None:
    """Share of the last ten seconds in which some task waited, from /proc/pressure/cpu."""
    match = re.search(r"^some avg10=(\d+(?:\.\d+)?)", text, re.MULTILINE)
    return min(1.0, float(match[1]) / 100) if match else None


def parse_cpu_name(cpuinfo: str) -> str | None:
    """The marketing name of the first processor in /proc/cpuinfo."""
    for key in _NAME_KEYS:
        match = re.search(rf"^{key}\s*:\s*(\S.*?)\s*$", cpuinfo, re.MULTILINE)
        if match:
            return match[1]
    return None


def parse_virtual_machine(cpuinfo: str) -> bool | None:
    """Whether an x86 processor reports a hypervisor; `None` elsewhere."""
    flags = re.search(r"^flags\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    return "hypervisor" in flags[1].split() if flags else None


Vendor = Literal["nvidia", "amd", "intel"]

# PCI vendor numbers. `nvidia-smi` describes NVIDIA cards.
_VENDORS: dict[str, Vendor] = {"0x1002": "amd", "0x8086": "intel"}
_FALLBACK_NAMES = {"amd": "AMD GPU", "intel": "Intel GPU"}
_MIB = 1024 * 1024
# Transfer rate per lane of each PCI Express generation, as the kernel prints it.
_GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
_MICROWATT = 1_000_000


def gpus(drm: Path, names: dict[str, str]) -> tuple[Gpu, ...]:
    """AMD and Intel GPUs below `/sys/class/drm`; `names` maps a PCI address to a device name."""
    cards = (entry for entry in sorted(drm.glob("card*")) if re.fullmatch(r"card\d+", entry.name))
    found = (_gpu((card / "device"), names) for card in cards)
    return tuple(gpu for gpu in found if gpu is not None)


def parse_lspci(text: str) -> dict[str, str]:
    """Device names by full PCI address, from `lspci -D -mm`.

    The bracketed part of a name is the marketing name: `Navi 33 [Radeon RX 7600]`.
    """
    names: dict[str, str] = {}
    for line in text.splitlines():
        address, _, rest = line.partition(" ")
        quoted = re.findall(r'"([^"]*)"', rest)
        if len(quoted) < 3:  # noqa: PLR2004 - class, vendor, device
            continue
        bracketed = re.search(r"\[(.+)\]", quoted[2])
        names[address] = bracketed[1] if bracketed else quoted[2]
    return names


def _gpu(device: Path, names: dict[str, str]) -> Gpu | None:
    vendor = _VENDORS.get(_text(device / "vendor") or "")
    if vendor is None:
        return None
    vram = _text(device / "mem_info_vram_total")
    name = _text(device / "product_name") or names.get(device.resolve().name)
    return Gpu(
        name=_with_vendor(name, vendor),
        vendor=vendor,
        vram_mib=int(vram) // _MIB if vram and vram.isdecimal() else None,
        pcie_generation=_generation(_text(device / "max_link_speed")),
        pcie_width=_width(_text(device / "current_link_width")),
        power_limit_w=_watts(device, "power1_cap"),
        default_power_limit_w=_watts(device, "power1_cap_default"),
    )


def _with_vendor(name: str | None, vendor: Vendor) -> str:
    if not name:
        return _FALLBACK_NAMES[vendor]
    word = {"amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA"}[vendor]
    return name if name.lower().startswith(word.lower()) else f"{word} {name}"


def _generation(speed: str | None) -> int | None:
    return _GENERATIONS.get(speed.split(" ")[0]) if speed else None


def _width(width: str | None) -> int | None:
    # 255 is the kernel's word for unknown; 0 stands where a device has no link.
    return int(width) if width and width.isdecimal() and 0 < int(width) <= 32 else None  # noqa: PLR2004


def _watts(device: Path, name: str) -> float | None:
    for monitor in sorted(device.glob("hwmon/hwmon*")):
        value = _text(monitor / name)
        if value and value.isdecimal() and int(value) >= _MICROWATT:
            return int(value) / _MICROWATT
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
