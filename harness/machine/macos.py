"""Describe a Mac: CPU, GPUs and hypervisor, from sysctl and system_profiler."""

import re
from collections.abc import Mapping

from estimates.gpu_names import known_vendor
from harness.machine.command import output
from harness.machine.lenient_json import line, objects, parsed_object, whole
from schemas.codec import Json
from schemas.submission import Gpu

_UNITS_MIB = {"MB": 1, "GB": 1024}
_SPEED_LIMIT = re.compile(r"CPU_Speed_Limit\s*=\s*(\d{1,3})\b")
_MOST_MIB = 16_777_216  # the result format's limit


def cpu_name() -> str | None:
    """Return the CPU's name: `Apple M3 Pro`, or an Intel name."""
    text = output("sysctl", "-n", "machdep.cpu.brand_string")
    return text.strip() or None if text else None


def virtual_machine() -> bool | None:
    text = output("sysctl", "-n", "kern.hv_vmm_present")
    return text.strip() == "1" if text else None


def speed_limit() -> float | None:
    """Return the share of full speed to which the system limits a hot CPU."""
    return parse_speed_limit(output("pmset", "-g", "therm") or "")


def parse_speed_limit(text: str) -> float | None:
    """Return the speed limit in the output of `pmset -g therm`; `None` if no limit was recorded."""
    match = _SPEED_LIMIT.search(text)
    return min(int(match[1]) / 100, 1.0) if match else None


def gpus() -> tuple[Gpu, ...]:
    text = output("system_profiler", "-json", "SPDisplaysDataType")
    return parse_displays(text) if text else ()


def parse_displays(text: str) -> tuple[Gpu, ...]:
    """Return the GPUs in the output of `system_profiler -json SPDisplaysDataType`.

    Apple's own GPUs share main memory and list no VRAM.
    """
    entries = objects(parsed_object(text).get("SPDisplaysDataType"))
    named = [(line(e.get("sppci_model")) or line(e.get("_name")), e) for e in entries]
    return tuple(_gpu(name, entry) for name, entry in named if name)


def _gpu(name: str, entry: Mapping[str, Json]) -> Gpu:
    metal = line(entry.get("spdisplays_mtlgpufamilysupport")) or ""
    version = re.fullmatch(r"spdisplays_metal(\d+)", metal)
    memory = re.fullmatch(r"(\d{1,6}) (MB|GB)", line(entry.get("spdisplays_vram")) or "")
    return Gpu(
        name=name,
        vendor=known_vendor(name),
        vram_mib=whole(int(memory[1]) * _UNITS_MIB[memory[2]], most=_MOST_MIB) if memory else None,
        api=f"Metal {version[1]}" if version else None,
    )
