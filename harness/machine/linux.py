"""Parses what Linux tells in /proc and /sys."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.machine.nvidia import State
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


def gpus(
    drm: Path, names: dict[str, str], environment: Mapping[str, str] = os.environ
) -> tuple[Gpu, ...]:
    """AMD and Intel GPUs below `/sys/class/drm` that this program may use.

    `names` maps a PCI address to a device name.
    """
    found = (_gpu(device, names) for device in _usable(drm, environment))
    return tuple(gpu for gpu in found if gpu is not None)


def state(drm: Path, environment: Mapping[str, str] = os.environ) -> State:
    """The state of the AMD and Intel GPUs that this program may use, from the kernel's monitors.

    The graphics of a processor, next to a card with far more memory, are not what computes.
    """
    devices = [each for each in _usable(drm, environment) if _vendor(each)]
    most = max((_vram(each) for each in devices), default=0)
    used = [each for each in devices if 4 * _vram(each) >= most]
    clocks = [hertz for each in used if (hertz := _monitored(each, "freq1_input"))]
    heats = [heat for each in used if (heat := _monitored(each, "temp[0-9]*_input"))]
    powers = [
        power
        for each in used
        if (power := _monitored(each, "power1_average") or _monitored(each, "power1_input"))
    ]
    return State(
        clock_mhz=min(clocks) / 1e6 if clocks else None,
        temperature_c=max(heats) / 1000 if heats else None,
        power_w=sum(powers) / _MICROWATT if powers and len(powers) == len(used) else None,
    )


def _usable(drm: Path, environment: Mapping[str, str]) -> list[Path]:
    """The devices of all cards, without the AMD ones that HIP and ROCr hide.

    Both count in the order of the slots, HIP among those that ROCr shows.
    """
    cards = (entry for entry in sorted(drm.glob("card*")) if re.fullmatch(r"card\d+", entry.name))
    devices = [card / "device" for card in cards]
    amd = sorted((d for d in devices if _vendor(d) == "amd"), key=lambda d: d.resolve().name)
    shown = amd
    for variable in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        if variable in environment:
            shown = _chosen(environment[variable], shown)
    return [each for each in devices if each not in amd or each in shown]


def _chosen(text: str, devices: Sequence[Path]) -> list[Path]:
    """The devices that numbers or `GPU-` with the serial of the chip stand for."""
    found: list[Path] = []
    for word in text.split(","):
        serials = [f"gpu-{_text(each / 'unique_id')}" for each in devices]
        if word.strip().isdecimal() and int(word) < len(devices):
            found.append(devices[int(word)])
        elif word.strip().lower() in serials:
            found.append(devices[serials.index(word.strip().lower())])
        else:  # what follows a wrong entry is not looked at
            break
    return found


def _vendor(device: Path) -> Vendor | None:
    return _VENDORS.get(_text(device / "vendor") or "")


def _vram(device: Path) -> int:
    text = _text(device / "mem_info_vram_total")
    return int(text) if text and text.isdecimal() else 0


def _monitored(device: Path, pattern: str) -> int | None:
    """The highest figure of a kind that the monitors of a device show; `None` without any."""
    texts = [_text(path) for path in device.glob(f"hwmon/hwmon*/{pattern}")]
    return max((int(text) for text in texts if text and text.isdecimal()), default=None)


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
    vendor = _vendor(device)
    if vendor is None:
        return None
    name = _text(device / "product_name") or names.get(device.resolve().name)
    return Gpu(
        name=_with_vendor(name, vendor),
        vendor=vendor,
        vram_mib=_vram(device) // _MIB or None,
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
