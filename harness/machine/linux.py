"""Describe a Linux machine: the CPU from /proc, AMD and Intel GPUs and their state from /sys."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from harness.machine.nvidia import GpuState
from schemas.submission import Gpu

# On ARM machines, /proc/cpuinfo has the CPU's part numbers, but no name.
_NAME_KEYS = ("model name", "Hardware", "cpu model", "uarch")
Vendor = Literal["amd", "intel"]
# PCI vendor numbers, without NVIDIA, whose GPUs `nvidia-smi` describes.
_VENDORS: dict[str, Vendor] = {"0x1002": "amd", "0x8086": "intel"}
_ONE_API = re.compile(r"[a-z_*]+:(\d+(?:,\d+)*)")  # selectors of other forms do not name GPUs
_MIB = 1024 * 1024
# Transfer rate per lane of each PCI Express generation, as the kernel prints it.
_GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
_WIDEST = 32  # maximum number of lanes
_MICROWATT = 1_000_000


def text_of(path: Path) -> str:
    """Return the text of a kernel file, stripped; empty if the file cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def parse_pressure(text: str) -> float | None:
    """Return the share of the last ten seconds in which a task waited for a CPU."""
    match = re.search(r"^some avg10=(\d+(?:\.\d+)?)", text, re.MULTILINE)
    return min(1.0, float(match[1]) / 100) if match else None


def parse_cpu_name(cpuinfo: str) -> str | None:
    """Return the marketing name of the first CPU in /proc/cpuinfo."""
    lines = (rf"^{key}\s*:\s*(\S.*?)\s*$" for key in _NAME_KEYS)
    found = (re.search(line, cpuinfo, re.MULTILINE) for line in lines)
    return next((match[1] for match in found if match), None)


def parse_virtual_machine(cpuinfo: str) -> bool | None:
    """Whether an x86 CPU reports a hypervisor; `None` on other CPUs."""
    flags = re.search(r"^flags\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    return "hypervisor" in flags[1].split() if flags else None


def gpus(
    drm: Path, names: dict[str, str], environment: Mapping[str, str] = os.environ
) -> tuple[Gpu, ...]:
    """Return the AMD and Intel GPUs that this program may use.

    `names` maps PCI addresses to names.
    """
    return tuple(filter(None, (_gpu(device, names) for device in _usable(drm, environment))))


def state(drm: Path, environment: Mapping[str, str] = os.environ) -> GpuState:
    """Return the state of the AMD and Intel GPUs that this program may use, from kernel sensors.

    Integrated graphics next to a GPU with far more memory are ignored, because they are not used.
    """
    devices = [device for device in _usable(drm, environment) if _vendor(device)]
    most = max((_vram(device) for device in devices), default=0)
    used = [device for device in devices if 4 * _vram(device) >= most]
    clocks, heats, powers = (
        [value for device in used if (value := _monitored(device, *patterns))]
        for patterns in (
            ("freq1_input",), ("temp[0-9]*_input",), ("power1_average", "power1_input")
        )
    )  # fmt: skip
    return GpuState(
        clock_mhz=min(clocks) / 1e6 if clocks else None,
        temperature_c=max(heats) / 1000 if heats else None,
        power_w=sum(powers) / _MICROWATT if powers and len(powers) == len(used) else None,
    )


def _usable(drm: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return all device folders except AMD and Intel GPUs hidden from HIP, ROCr or oneAPI.

    HIP and ROCr number GPUs in slot order; HIP numbers only the GPUs that ROCr shows. oneAPI
    numbers the integrated graphics, which are on the first bus, last.
    """
    cards = (entry for entry in sorted(drm.glob("card*")) if re.fullmatch(r"card\d+", entry.name))
    devices = [card / "device" for card in cards]
    slots = sorted(devices, key=lambda device: device.resolve().name)
    amd = shown = [slot for slot in slots if _vendor(slot) == "amd"]
    for variable in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        if variable in environment:
            shown = _chosen(environment[variable], shown)
    intel = [slot for slot in slots if _vendor(slot) == "intel"]
    intel.sort(key=lambda device: device.resolve().name.startswith("0000:00:"))
    numbers = _ONE_API.fullmatch(environment.get("ONEAPI_DEVICE_SELECTOR", ""))
    shown = shown + (_chosen(numbers[1], intel) if numbers else intel)
    return [device for device in devices if device not in amd + intel or device in shown]


def _chosen(text: str, devices: Sequence[Path]) -> list[Path]:
    """Return the devices listed in `text`, such as `0,GPU-<serial>`, up to a wrong entry."""
    found: list[Path] = []
    for word in text.split(","):
        serials = [f"gpu-{text_of(each / 'unique_id') or None}" for each in devices]
        if word.strip().isdecimal() and int(word) < len(devices):
            found.append(devices[int(word)])
        elif word.strip().lower() in serials:
            found.append(devices[serials.index(word.strip().lower())])
        else:  # like HIP, ignore all entries after a wrong entry
            break
    return found


def _vendor(device: Path) -> Vendor | None:
    return _VENDORS.get(text_of(device / "vendor"))


def _vram(device: Path) -> int:
    text = text_of(device / "mem_info_vram_total")
    return int(text) if text.isdecimal() else 0


def _monitored(device: Path, *patterns: str) -> int:
    """Return the highest reading of the first kind of sensor file that has any above 0, else 0."""
    for pattern in patterns:
        texts = [text_of(path) for path in device.glob(f"hwmon/hwmon*/{pattern}")]
        if highest := max((int(text) for text in texts if text.isdecimal()), default=0):
            return highest
    return 0


def parse_lspci(text: str) -> dict[str, str]:
    """Return GPU names by full PCI address from `lspci -D -mm`, using a name in brackets if any."""
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
    name = text_of(device / "product_name") or names.get(device.resolve().name) or "GPU"
    maker = {"amd": "AMD", "intel": "Intel"}[vendor]
    speed = text_of(device / "max_link_speed")
    width = text_of(device / "current_link_width")
    return Gpu(
        name=name if name.lower().startswith(vendor) else f"{maker} {name}",
        vendor=vendor,
        vram_mib=_vram(device) // _MIB or None,
        pcie_generation=_GENERATIONS.get(speed.partition(" ")[0]),
        # 255 means unknown to the kernel, 0 a device without a link.
        pcie_width=int(width) if width.isdecimal() and 0 < int(width) <= _WIDEST else None,
        power_limit_w=_watts(device, "power1_cap"),
        default_power_limit_w=_watts(device, "power1_cap_default"),
    )


def _watts(device: Path, name: str) -> float | None:
    microwatts = _monitored(device, name)
    return microwatts / _MICROWATT if microwatts >= _MICROWATT else None
