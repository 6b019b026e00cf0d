"""Compute the lower limit of a step's time from the memory bandwidth of a machine.

The limit is the bytes of weights that one token reads, over the bandwidth of the memory they are in
(Williams, Waterman and Patterson 2009, Roofline). Bandwidths come from `schemas/devices.json`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from schemas.codec import decode
from schemas.model_sizes import bits_of, parameters_of, size_in
from schemas.submission import Machine, Model, Submission

_BYTES_PER_TRANSFER, _USUAL_CHANNELS = 8, 2
_BITS_PER_BYTE = 8
MIB = 1024 * 1024
_ANY = "any existing memory"
# Words that a driver adds to the name of a card; brackets enclose the code name of the chip.
_NOISE = re.compile(
    r"\([^)]*\)|[®™]|\b(nvidia|geforce|amd|radeon|intel|graphics|gpu|corporation)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The lower limit of a step's time, and a description of the memory that sets it."""

    step_ms: float
    memory: str


def floor(submission: Submission) -> Floor | None:
    """A lower limit for the time of a plain step; `None` if the weights' size is unknown."""
    used = bytes_per_token(submission.target)
    if used is None:
        return None
    machine = submission.machine
    on_cpu = submission.engine.backend == "cpu"
    known = (_main_memory(machine) or _processor(machine, used)) if on_cpu else _cards(machine)
    if known is None:
        count = max(1, len(machine.gpus))
        limit = devices().unknown_device_gb_per_s * count
        return Floor(step_ms=used / limit / 1e6, memory=_ANY)
    gb_per_s, memory = known
    cached = 0 if on_cpu else devices().cache_mib * MIB
    return Floor(step_ms=max(0.0, used - cached) / gb_per_s / 1e6, memory=memory)


def bytes_per_token(model: Model) -> float | None:
    """Bytes of weights that one token reads; in a mixture of experts, only the active share.

    Parameter counts that are not stated are read from the name. Without a file size, the lowest
    bits per weight of the quantisation are used. `None` if the size cannot be derived.
    """
    parameters = model.parameters or parameters_of(size_in(model.name))
    active = model.active_parameters or parameters_of(size_in(model.name, active=True))
    if model.file_bytes is not None:
        if model.active_parameters is None:
            return float(model.file_bytes)
        share = model.active_parameters / parameters if parameters else None
        return None if share is None else model.file_bytes * min(1.0, share)
    bits = bits_of(model.quantisation)
    if parameters is None or bits is None:
        return None
    return min(parameters, active or parameters) * bits[0] / _BITS_PER_BYTE


def unknown_to(submission: Submission) -> tuple[str, ...]:
    """The inputs that `floor` lacks, in words: size of the weights, device memory, or cores."""
    least, machine = floor(submission), submission.machine
    if least is None:
        return ("the size of the target's weights",)
    if least.memory == _ANY:
        return ("the memory of the device",)
    on_cpu = submission.engine.backend == "cpu" and _main_memory(machine) is None
    return ("the processor's cores",) if on_cpu and machine.cpu.logical_cores is None else ()


def _main_memory(machine: Machine) -> tuple[float, str] | None:
    """The bandwidth of main memory, and its description.

    If its type is unknown, it is the processor's bandwidth in `devices.json`, if listed.
    """
    if machine.ram_mts is not None and machine.ram_channels is not None:
        gb_per_s = ddr_gb_per_s(machine.ram_mts, machine.ram_channels)
        return gb_per_s, f"main memory at {gb_per_s:.0f} GB/s"
    of_chip = bandwidth_gb_per_s(machine.cpu.name or "")
    return None if of_chip is None else (of_chip, f"{machine.cpu.name} at {of_chip:g} GB/s")


def ddr_gb_per_s(transfers: int, channels: int | None) -> float:
    """Main-memory bandwidth in GB/s, from millions of transfers per second and channels."""
    return transfers * (channels or _USUAL_CHANNELS) * _BYTES_PER_TRANSFER / 1000


def _processor(machine: Machine, used: float) -> tuple[float, str] | None:
    """The highest memory bandwidth possible for this processor, from its name and cores."""
    if machine.cpu.name is None and machine.cpu.logical_cores is None:
        return None
    table = devices().processors
    name = (machine.cpu.name or "").lower()
    cores = machine.cpu.logical_cores or table.most_cores
    by_cores = table.per_core_gb_per_s * cores
    platform = next(each for each in table.platforms if all(word in name for word in each.words))
    in_cache = used <= table.cache_mib * MIB
    gb_per_s = by_cores if in_cache else min(by_cores, platform.gb_per_s)
    shown = machine.cpu.name or "a processor"
    return gb_per_s, f"any memory of {shown} with {cores} logical cores ({gb_per_s:g} GB/s)"


def _cards(machine: Machine) -> tuple[float, str] | None:
    """The sum of the cards' bandwidths, as if they read their parts of the weights in parallel."""
    each = [bandwidth_gb_per_s(gpu.name) for gpu in machine.gpus]
    known = [gb_per_s for gb_per_s in each if gb_per_s is not None]
    if not known or len(known) < len(each):
        return None
    names = " and ".join(gpu.name for gpu in machine.gpus)
    return sum(known), f"{names} at {sum(known):g} GB/s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    words: tuple[str, ...]
    gb_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Processors:
    """Upper limits of main-memory bandwidth: per core, and for words in the processor's name."""

    per_core_gb_per_s: float
    cache_mib: int
    platforms: tuple[Platform, ...]
    most_cores: int = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """The table of devices: memory bandwidths in GB/s by normalised name, and memory sizes.

    `unknown_device_gb_per_s` is the limit for devices outside the table. A bandwidth is computed
    from the width of the memory bus and its data rate; graphics units that only read main memory
    have no bandwidth here. `memory_gib` has the memory of cards that are sold with only one size,
    `usual_gib` the commonest size of other cards, and `sharing` the cards that use main memory.
    Cards that are slower with some memory sizes have those bandwidths in `gb_per_s_by_gib`.
    """

    names: tuple[str, ...]
    bandwidth_gb_per_s: Mapping[str, float]
    memory_gib: Mapping[str, int]
    usual_gib: Mapping[str, int]
    gb_per_s_by_gib: Mapping[str, Mapping[str, float]]
    sharing: frozenset[str]
    unknown_device_gb_per_s: float
    cache_mib: int
    processors: Processors


@cache
def devices() -> Devices:
    table = json.loads(resources.files("schemas").joinpath("devices.json").read_text("utf-8"))
    listed = table.pop("devices").items()
    table["names"] = [name for name, _ in listed]
    table["bandwidth_gb_per_s"] = {
        name: each["bus_bits"] / _BITS_PER_BYTE * each["data_rate_gtps"]
        for name, each in listed
        if "bus_bits" in each
    }
    for key in ("memory_gib", "usual_gib", "gb_per_s_by_gib"):
        table[key] = {name: each[key] for name, each in listed if key in each}
    table["sharing"] = [name for name, each in listed if each.get("shares_memory")]
    return decode(Devices, table)


@cache
def bandwidth_gb_per_s(name: str) -> float | None:
    """The memory bandwidth of a device by its name; `None` if the device is not in the table.

    If a short name fits several devices (V100), the fastest counts.
    """
    table, wanted = devices().bandwidth_gb_per_s, normalised(name)
    longer = (gb for known, gb in table.items() if known.startswith(f"{wanted} "))
    return table.get(wanted) or (max(longer, default=None) if wanted else None)


def normalised(name: str) -> str:
    """Normalise a device's name: `NVIDIA A100-SXM4-80GB` becomes `a100 sxm4 80gb`."""
    return re.sub(r"[^a-z0-9.]+", " ", _NOISE.sub(" ", name.lower())).strip()
