"""Read and parse what Linux states in /proc about the processor and its load."""

import re
from dataclasses import dataclass
from pathlib import Path

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


def text_of(path: Path) -> str:
    """A file of the kernel, without the space around it; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


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
