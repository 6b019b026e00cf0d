"""Describe the machine: parts and memory, but never host name, owner, serial numbers or paths."""

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil

from harness.machine import linux, macos, nvidia
from harness.machine.command import output
from harness.machine.environment import on_battery, power_mode
from harness.machine.windows import Parts, windows_parts
from schemas import private, public_text
from schemas.rig import Architecture, System
from schemas.submission import Cpu, Gpu, Machine, OperatingSystem

_FAMILIES: dict[str, System] = {
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


def machine(environment: Mapping[str, str] = os.environ) -> Machine:
    """Describe this machine, with the GPUs that a program in a given environment sees."""
    cpuinfo = linux.text_of(Path("/proc/cpuinfo"))
    parts = windows_parts() if platform.system() == "Windows" else Parts()
    cards = nvidia.cards(environment)
    is_mac = platform.system() == "Darwin"
    release = platform.mac_ver()[0] if is_mac else platform.release()
    return Machine(
        os=OperatingSystem(
            family=_FAMILIES.get(platform.system(), "other"), version=kernel_version(release)
        ),
        cpu=_cpu(cpuinfo, parts),
        ram_mib=psutil.virtual_memory().total // _MIB,
        gpus=tuple(public(gpu) for gpu in cards.gpus + _other_gpus(parts, environment)),
        ram_type=parts.ram_type,
        ram_mts=parts.ram_mts,
        virtual_machine=(
            macos.virtual_machine() if is_mac else linux.parse_virtual_machine(cpuinfo)
        ),
        on_battery=on_battery(),
        power_mode=power_mode(),
        desktop_on_gpu=cards.display_active,
    )


def kernel_version(release: str) -> str | None:
    """Return the first numbers of a kernel release, since the rest can contain the owner's name."""
    match = re.match(r"\d+(?:\.\d+){0,2}", release)
    return match[0] if match else None


def clean_name(name: str) -> str:
    """Return a marketing name without trademark signs, doubled spaces and forbidden characters."""
    text = re.sub(r"\((?:R|TM|C)\)|[\x00-\x1f<>]", " ", name, flags=re.IGNORECASE)
    text = " ".join(text.split())[:_NAME_LENGTH]
    return "unknown" if not text or private.found(text) else text


def public(gpu: Gpu) -> Gpu:
    """Clean the name and driver version of a GPU, since a driver may report any text."""
    name = public_text.card(clean_name(gpu.name)) or "unknown"
    return replace(gpu, name=name, driver=public_text.driver(gpu.driver))


def _cpu(cpuinfo: str, parts: Parts) -> Cpu:
    name = linux.parse_cpu_name(cpuinfo) or parts.cpu_name
    if name is None and platform.system() == "Darwin":
        name = macos.cpu_name()
    architecture = _ARCHITECTURES.get(platform.machine().lower(), "other")
    return Cpu(
        name=clean_name(name or platform.processor() or architecture),
        architecture=architecture,
        logical_cores=usable_cores(),
        physical_cores=psutil.cpu_count(logical=False),
    )


def usable_cores() -> int:
    """Return the number of logical cores that this process may use: often fewer in a container."""
    if platform.system() == "Linux":
        return len(os.sched_getaffinity(0))
    return psutil.cpu_count() or os.cpu_count() or 1


def _other_gpus(parts: Parts, environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    if platform.system() == "Darwin":
        return macos.gpus()
    if platform.system() == "Linux":
        names = linux.parse_lspci(output("lspci", "-D", "-mm") or "")
        return linux.gpus(Path("/sys/class/drm"), names, environment)
    return tuple(gpu for gpu in parts.gpus if gpu.vendor != "nvidia")
