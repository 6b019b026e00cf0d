"""The memories and bandwidths of this machine, or of one that is described in words."""

import re
from dataclasses import dataclass, replace
from statistics import harmonic_mean

import psutil

from estimates.identity import cpu_label
from estimates.plan.model import MIB, Memory
from estimates.plan.placement import SHARED_SHARE, SHARING, SYSTEM_MIB, free_of
from estimates.plan.speed import MachineSpeed
from estimates.roofline import bandwidth_gb_per_s, devices, normalised
from harness.errors import BadInputError
from harness.machine.detect import machine
from harness.plan.cards import cards_named, nearest_cards
from harness.plan.options import ComputerOptions
from schemas.submission import Gpu
from schemas.submission import Machine as Rig
from schemas.vocabulary import COMMON_DEVICES

_GIB = 1024.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*G(?:i?B)\b", re.IGNORECASE)
# "m3 max 64", "rtx 3060 12": what follows a chip and is the size of a memory is one.
_BARE_SIZE = re.compile(
    r"((?:\bm\d|\d{3,4}).*\s(?:6|8|1[0126]|2[04]|3[26]|48|64|96|128|192|256|512))$", re.IGNORECASE
)
_CORES = re.compile(r"(\d+)\s*(?:cores?|c)\b", re.IGNORECASE)
_TRANSFERS = re.compile(r"DDR\d\w?-?\s*(\d{3,5})", re.IGNORECASE)
_CHANNELS = re.compile(r"(\d+)\s*-?channels?", re.IGNORECASE)
_USUAL_CHANNELS = 2
_BYTES_PER_TRANSFER = 8
_DEFAULT_RAM_MIB = 16384.0
# A graphics unit that lists less uses a part of main memory.
_OWN_MEMORY_MIB = 2048
# These are slower than the processor that they are part of.
_NEVER_USED = re.compile(r"(u?hd\b|.*\bintegrated\b).*")
_ASSUMED_GIB = 8  # of a card whose memory is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """Where models can go, how fast it is, and what had to be assumed."""

    devices: tuple[Memory, ...]
    host: Memory
    speed: MachineSpeed
    notes: tuple[str, ...] = ()
    processor: str | None = None
    unified: bool = False  # the device's memory is part of the host's


def computer_of(options: ComputerOptions) -> Computer:
    """The machine that the options describe, or this one. Raises `BadInputError`."""
    rig = machine()
    _, own_cpu = cpu_label(rig.cpu.name, rig.cpu.logical_cores)
    if options.described:
        cards, host, cores = _described(options, rig)
        unified = [card.name for card in cards if shares_memory(card.name)]
    else:
        # Else the first graphics unit that shares main memory, or whose memory is not known.
        units = (each for each in rig.gpus if each.vendor in ("apple", "amd", "intel"))
        used = (each for each in units if not _NEVER_USED.fullmatch(normalised(each.name)))
        own = own_cards(rig) or tuple(used)[:1]
        gib = devices().memory_gib
        sizes = [x.vram_mib or gib.get(normalised(x.name), _ASSUMED_GIB) * _GIB for x in own]
        cards = tuple(_card(x.name, mib, options) for x, mib in zip(own, sizes, strict=True))
        unified = [gpu.name for gpu in own if shares_memory(gpu.name, gpu.vram_mib)]
        host = Memory(
            name="host",
            free_mib=psutil.virtual_memory().available / MIB,
            bandwidth_gb_per_s=options.ram_bandwidth
            or (rig.ram_mts and _ddr_gb_per_s(rig.ram_mts, rig.ram_channels)),
        )
        cores = rig.cpu.physical_cores
    if unified:
        cards, host = _sharing(unified[0], host, options)
    rates = [card.bandwidth_gb_per_s for card in cards if card.bandwidth_gb_per_s]
    return Computer(
        unified=bool(unified),
        devices=cards,
        host=host,
        speed=MachineSpeed(
            # Cards are read one after the other.
            device_gb_per_s=harmonic_mean(rates) if rates else None,
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


def shares_memory(name: str, own_mib: int | None = None) -> bool:
    """Whether a graphics unit uses main memory, by its name where it lists none of its own."""
    if own_mib is not None:
        return own_mib < _OWN_MEMORY_MIB
    return SHARING.fullmatch(normalised(without_size(name))) is not None


def bandwidth_of(name: str) -> float | None:
    """Bandwidth of a card by its name, or by a name that begins with or contains a known one."""
    exact = bandwidth_gb_per_s(_SIZE.sub("", name))
    if exact is not None:
        return exact
    text = f" {re.sub(r'[^a-z0-9.]+', ' ', name.lower())} "
    table = devices().bandwidth_gb_per_s
    if within := [key for key in table if f" {key} " in text]:
        return table[max(within, key=len)]
    words = set(re.sub(r"[^a-z0-9.]+", " ", _SIZE.sub("", name).lower()).split())
    around = [key for key in table if words and words <= set(key.split())]
    return table[min(around, key=len)] if around else None


def without_size(name: str) -> str:
    """The name of a card without the size that a person adds to it."""
    return _SIZE.sub("", name).strip()


def _described(options: ComputerOptions, rig: Rig) -> tuple[tuple[Memory, ...], Memory, int | None]:
    named = (name.strip() for name in options.gpus if name.lower() != "none")
    names = [_BARE_SIZE.sub(r"\1 GB", name) for name in named]
    if options.gpus and not names and (options.vram, options.free) != (None, None):
        message = "--gpu none has no card; leave out --vram and --free, or name the card"
        raise BadInputError(message)
    if not options.gpus and options.vram:
        names = [f"card with {options.vram:g} GiB"]
    cards = tuple(card for name in names for card in _named(name, options))
    ram_mib = (rig.ram_mib or _DEFAULT_RAM_MIB) if options.ram is None else options.ram * _GIB
    text = options.cpu or ""
    transfers, channels = _TRANSFERS.search(text), _CHANNELS.search(text)
    rate = options.ram_bandwidth
    if rate is None and transfers:
        rate = _ddr_gb_per_s(int(transfers[1]), int(channels[1]) if channels else None)
    cores = _CORES.search(text)
    host = Memory(name="host", free_mib=max(0.0, ram_mib - SYSTEM_MIB), bandwidth_gb_per_s=rate)
    return cards, host, int(cores[1]) if cores else None


def _sharing(
    name: str, host: Memory, options: ComputerOptions
) -> tuple[tuple[Memory, ...], Memory]:
    """The device and the host of a machine with one memory for both."""
    bare, size = normalised(without_size(name)), _SIZE.search(name)
    if size is not None and options.ram is None:
        host = replace(host, free_mib=max(0.0, float(size[1]) * _GIB - SYSTEM_MIB))
    rate = options.bandwidth or bandwidth_gb_per_s(bare) or bandwidth_gb_per_s(f"apple {bare}")
    rate = rate or host.bandwidth_gb_per_s
    most = SHARED_SHARE * (host.free_mib + SYSTEM_MIB)
    free = min(host.free_mib, most) if options.free is None else options.free
    card = Memory(name=name, free_mib=free, bandwidth_gb_per_s=rate)
    return (card,), replace(host, bandwidth_gb_per_s=host.bandwidth_gb_per_s or rate)


def _named(name: str, options: ComputerOptions) -> list[Memory]:
    """The cards that a text names, each with the size in it, or the only one it was sold with."""
    size, (known, count) = _SIZE.search(name), cards_named(name) or (None, 1)
    gib = options.vram if options.vram is not None else float(size[1]) if size else None
    if gib is None and known is not None:
        gib = devices().memory_gib.get(known) or _usual_size(known)
        name = f"{name} {gib:g} GB" if gib else name
    called = known or name
    if gib is None and options.free is None and not shares_memory(called):
        near = () if known else nearest_cards(name)
        hint = f" Known names like it: {', '.join(near)}." if near else ""
        message = f"--gpu {name!r} names no size; add it after the name, or as --vram 16."
        raise BadInputError(message + hint)
    if shares_memory(called) and size is not None:
        name = f"{called} {size[0]}"  # "dgx spark 128 GB" is a GB10 with as much
    card = _card(name, (gib or 0) * _GIB, options, called)
    return [card] * count


def _usual_size(known: str) -> float | None:
    """The memory in GiB that most cards of this name have, if it is sold with several."""
    sizes = {
        each.memory_gib
        for label, each in COMMON_DEVICES.items()
        if normalised(without_size(label)) == known and not shares_memory(known)
    }
    return sizes.pop() if len(sizes) == 1 else None


def _card(name: str, mib: float, options: ComputerOptions, known: str | None = None) -> Memory:
    free = options.free if options.free is not None else free_of(mib)
    rate = options.bandwidth or bandwidth_of(known or name)
    return Memory(name=name, free_mib=free, bandwidth_gb_per_s=rate)


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
