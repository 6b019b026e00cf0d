"""The memories and bandwidths of this machine, or of one that is described in words."""

import re
from dataclasses import dataclass

import psutil

from estimates.identity import cpu_label
from estimates.plan.model import MIB, Memory
from estimates.plan.placement import SYSTEM_MIB, free_of
from estimates.plan.speed import MachineSpeed
from estimates.roofline import bandwidth_gb_per_s, devices
from harness.errors import UsageError
from harness.machine.detect import machine
from harness.plan.options import ComputerOptions
from schemas.submission import Gpu
from schemas.submission import Machine as Rig

_GIB = 1024.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*G(?:i?B)\b", re.IGNORECASE)
_CORES = re.compile(r"(\d+)\s*(?:cores?|c)\b", re.IGNORECASE)
_TRANSFERS = re.compile(r"DDR\d\w?-?\s*(\d{3,5})", re.IGNORECASE)
_CHANNELS = re.compile(r"(\d+)\s*-?channels?", re.IGNORECASE)
_USUAL_CHANNELS = 2
_BYTES_PER_TRANSFER = 8
_DEFAULT_RAM_MIB = 16384.0
# A graphics unit that lists less uses a part of main memory.
_OWN_MEMORY_MIB = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """Where models can go, how fast it is, and what had to be assumed."""

    devices: tuple[Memory, ...]
    host: Memory
    speed: MachineSpeed
    notes: tuple[str, ...] = ()
    processor: str | None = None


def computer_of(options: ComputerOptions) -> Computer:
    """The machine that the options describe, or this one. Raises `UsageError`."""
    rig = machine()
    _, own_cpu = cpu_label(rig.cpu.name, rig.cpu.logical_cores)
    if options.described:
        cards, host, cores = _described(options, rig)
    else:
        cards = tuple(_card(gpu.name, gpu.vram_mib or 0, options) for gpu in own_cards(rig))
        host = Memory(
            name="host",
            free_mib=psutil.virtual_memory().available / MIB,
            bandwidth_gb_per_s=options.ram_bandwidth
            or (rig.ram_mts and _ddr_gb_per_s(rig.ram_mts, rig.ram_channels)),
        )
        cores = rig.cpu.physical_cores
    return Computer(
        devices=cards,
        host=host,
        speed=MachineSpeed(
            device_gb_per_s=_together(cards),
            host_gb_per_s=host.bandwidth_gb_per_s,
            cores=cores,
        ),
        notes=tuple(_assumed(cards, host)),
        processor=options.cpu or (None if options.described else own_cpu),
    )


def own_cards(rig: Rig) -> tuple[Gpu, ...]:
    """The cards of one vendor with memory of their own, which an engine uses together."""
    by_vendor: dict[str, list[Gpu]] = {}
    for gpu in rig.gpus:
        if gpu.vram_mib is not None and gpu.vram_mib >= _OWN_MEMORY_MIB:
            by_vendor.setdefault(gpu.vendor or "other", []).append(gpu)
    groups = by_vendor.values()
    return tuple(max(groups, key=lambda own: sum(gpu.vram_mib or 0 for gpu in own), default=()))


def bandwidth_of(name: str) -> float | None:
    """Bandwidth of a card by its name, or by a name that begins with or contains a known one."""
    exact = bandwidth_gb_per_s(_SIZE.sub("", name))
    if exact is not None:
        return exact
    text = f" {re.sub(r'[^a-z0-9.]+', ' ', name.lower())} "
    known = [key for key in devices().bandwidth_gb_per_s if f" {key} " in text]
    if not known:
        words = set(re.sub(r"[^a-z0-9.]+", " ", _SIZE.sub("", name).lower()).split())
        known = [key for key in devices().bandwidth_gb_per_s if words and words <= set(key.split())]
        return devices().bandwidth_gb_per_s[min(known, key=len)] if known else None
    return devices().bandwidth_gb_per_s[max(known, key=len)]


def without_size(name: str) -> str:
    """The name of a card without the size that a person adds to it."""
    return _SIZE.sub("", name).strip()


def _described(options: ComputerOptions, rig: Rig) -> tuple[tuple[Memory, ...], Memory, int | None]:
    names = [name for name in options.gpus if name.lower() != "none"]
    if not options.gpus and options.vram:
        names = [f"card with {options.vram:g} GiB"]
    cards = tuple(_named(name, options) for name in names)
    ram_mib = (rig.ram_mib or _DEFAULT_RAM_MIB) if options.ram is None else options.ram * _GIB
    text = options.cpu or ""
    transfers, channels = _TRANSFERS.search(text), _CHANNELS.search(text)
    rate = options.ram_bandwidth
    if rate is None and transfers:
        rate = _ddr_gb_per_s(int(transfers[1]), int(channels[1]) if channels else None)
    cores = _CORES.search(text)
    host = Memory(name="host", free_mib=max(0.0, ram_mib - SYSTEM_MIB), bandwidth_gb_per_s=rate)
    return cards, host, int(cores[1]) if cores else None


def _named(name: str, options: ComputerOptions) -> Memory:
    size = _SIZE.search(name)
    gib = options.vram if options.vram is not None else float(size[1]) if size else None
    if gib is None and options.free is None:
        message = f"--gpu {name!r} names no size; write it as 'RTX 4060 8 GB', or add --vram 8"
        raise UsageError(message)
    return _card(name, (gib or 0) * _GIB, options)


def _card(name: str, mib: float, options: ComputerOptions) -> Memory:
    free = options.free if options.free is not None else free_of(mib)
    rate = options.bandwidth or bandwidth_of(name)
    return Memory(name=name, free_mib=free, bandwidth_gb_per_s=rate)


def _together(cards: tuple[Memory, ...]) -> float | None:
    """Cards are read one after the other, so the bytes pass at about their mean bandwidth."""
    rates = [card.bandwidth_gb_per_s for card in cards if card.bandwidth_gb_per_s]
    return len(rates) / sum(1 / rate for rate in rates) if rates else None


def _ddr_gb_per_s(transfers: int, channels: int | None) -> float:
    return transfers * (channels or _USUAL_CHANNELS) * _BYTES_PER_TRANSFER / 1000


def _assumed(cards: tuple[Memory, ...], host: Memory) -> list[str]:
    notes = [
        f"the bandwidth of {card.name} is not known, so speeds assume 400 GB/s; --bandwidth sets it"
        for card in cards
        if card.bandwidth_gb_per_s is None
    ]
    if host.bandwidth_gb_per_s is None:
        notes.append(
            "the bandwidth of main memory is not known, so speeds assume 50 GB/s; "
            "--ram-bandwidth sets it"
        )
    return notes
