"""Read what Linux's files in /proc report about the CPU and its load."""

import re
from pathlib import Path

# On ARM machines, /proc/cpuinfo has the CPU's part numbers, but no name.
_NAME_KEYS = ("model name", "Hardware", "cpu model", "uarch")


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
