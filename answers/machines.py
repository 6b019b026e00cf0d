"""A machine as its memories and bandwidths: described in words, or put together from its parts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import harmonic_mean

from answers.errors import QuestionError
from answers.model import Memory
from answers.names import cards_named, nearest_cards
from answers.placement import SHARED_SHARE, SHARING, SYSTEM_MIB, free_of
from answers.speed import MachineSpeed
from estimates.roofline import bandwidth_gb_per_s, devices, normalised
from schemas.vocabulary import COMMON_DEVICES

GIB = 1024.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*G(?:i?B)\b", re.IGNORECASE)
# "m3 max 64", "rtx 3060 12": what follows a chip and is the size of a memory is one.
_BARE_SIZE = re.compile(
    r"((?:\bm\d|\d{3,4}).*\s(?:6|8|1[0126]|2[04]|3[26]|48|64|96|128|192|256|512))$", re.IGNORECASE
)
_CORES = re.compile(r"(\d+)\s*(?:cores?|c)\b", re.IGNORECASE)
_TRANSFERS = re.compile(r"DDR\d\w?-?\s*(\d{3,5})", re.IGNORECASE)
_CHANNELS = re.compile(r"(\d+)\s*-?channels?", re.IGNORECASE)
_DEFAULT_CHANNELS = 2
_BYTES_PER_TRANSFER = 8
_DEFAULT_RAM_MIB = 32768.0
# A graphics unit that lists less uses a part of main memory.
OWN_MEMORY_MIB = 2048
_ASSUMED_CARD_GIB = 8  # of a card whose memory is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineWords:
    """A machine as somebody describes it: cards, sizes in GiB (`free` in MiB), rates in GB/s."""

    gpus: tuple[str, ...] = ()
    vram: float | None = None
    free: float | None = None
    ram: float | None = None
    bandwidth: float | None = None
    ram_bandwidth: float | None = None
    cpu: str | None = None

    @property
    def described(self) -> bool:
        """Whether another machine than the one at hand is meant."""
        return bool(self.gpus) or self.vram is not None or self.ram is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """Where models can go, how fast it is, and what had to be assumed."""

    devices: tuple[Memory, ...]
    host: Memory
    speed: MachineSpeed
    notes: tuple[str, ...] = ()
    processor: str | None = None
    unified: bool = False  # the device's memory is part of the host's
    described: bool = False  # in words, so it is not the machine at hand


def described_computer(words: MachineWords) -> Computer:
    """The machine that words describe. Raises `QuestionError` for a card of unknown size."""
    named = (name.strip() for name in words.gpus if name.lower() != "none")
    names = [_BARE_SIZE.sub(r"\1 GB", name) for name in named]
    if words.gpus and not names and (words.vram, words.free) != (None, None):
        message = "--gpu none has no card; leave out --vram and --free, or name the card"
        raise QuestionError(message)
    if not words.gpus and words.vram:
        names = [f"card with {words.vram:g} GiB"]
    cards = tuple(card for name in names for card in _named(name, words))
    ram_mib = _DEFAULT_RAM_MIB if words.ram is None else words.ram * GIB
    text = words.cpu or ""
    transfers, channels = _TRANSFERS.search(text), _CHANNELS.search(text)
    rate = words.ram_bandwidth
    if rate is None and transfers:
        rate = ddr_gb_per_s(int(transfers[1]), int(channels[1]) if channels else None)
    cores = _CORES.search(text)
    host = Memory(name="host", free_mib=max(0.0, ram_mib - SYSTEM_MIB), bandwidth_gb_per_s=rate)
    return computer_of_parts(
        cards,
        host,
        words,
        cores=int(cores[1]) if cores else None,
        unified=[card.name for card in cards if shares_memory(card.name)],
        processor=words.cpu,
    )


def computer_of_parts(
    cards: tuple[Memory, ...],
    host: Memory,
    words: MachineWords,
    *,
    cores: int | None,
    unified: Sequence[str],
    processor: str | None,
) -> Computer:
    """A computer of cards and a main memory; the `unified` ones are a part of that memory."""
    if unified:
        cards, host = _sharing(unified[0], host, words)
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
        processor=processor,
        described=words.described,
    )


def shares_memory(name: str, own_mib: int | None = None) -> bool:
    """Whether a graphics unit uses main memory, by its name where it lists none of its own."""
    if own_mib is not None:
        return own_mib < OWN_MEMORY_MIB
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


def card_memory(name: str, mib: float | None, words: MachineWords) -> Memory:
    """A card with so much memory, else as much as its name is sold with."""
    if mib is None:
        mib = devices().memory_gib.get(normalised(name), _ASSUMED_CARD_GIB) * GIB
    return _card(name, mib, words)


def ddr_gb_per_s(transfers: int, channels: int | None) -> float:
    """Bandwidth of main memory in GB/s, of millions of transfers per second."""
    return transfers * (channels or _DEFAULT_CHANNELS) * _BYTES_PER_TRANSFER / 1000


def _sharing(name: str, host: Memory, words: MachineWords) -> tuple[tuple[Memory, ...], Memory]:
    """The device and the host of a machine with one memory for both."""
    bare, size = normalised(without_size(name)), _SIZE.search(name)
    if size is not None and words.ram is None:
        host = replace(host, free_mib=max(0.0, float(size[1]) * GIB - SYSTEM_MIB))
    rate = words.bandwidth or bandwidth_gb_per_s(bare) or bandwidth_gb_per_s(f"apple {bare}")
    rate = rate or host.bandwidth_gb_per_s
    most = SHARED_SHARE * (host.free_mib + SYSTEM_MIB)
    free = min(host.free_mib, most) if words.free is None else words.free
    card = Memory(name=name, free_mib=free, bandwidth_gb_per_s=rate)
    return (card,), replace(host, bandwidth_gb_per_s=host.bandwidth_gb_per_s or rate)


def _named(name: str, words: MachineWords) -> list[Memory]:
    """The cards that a text names, each with the size in it, or the only one it was sold with."""
    size, (known, count) = _SIZE.search(name), cards_named(name) or (None, 1)
    gib = words.vram if words.vram is not None else float(size[1]) if size else None
    if gib is None and known is not None:
        gib = devices().memory_gib.get(known) or _usual_size(known)
        name = f"{name} {gib:g} GB" if gib else name
    called = known or name
    if gib is None and words.free is None and not shares_memory(called):
        near = () if known else nearest_cards(name)
        hint = f" Known names like it: {', '.join(near)}." if near else ""
        message = f"--gpu {name!r} names no size; add it after the name, or as --vram 16."
        raise QuestionError(message + hint)
    if shares_memory(called) and size is not None:
        name = f"{called} {size[0]}"  # "dgx spark 128 GB" is a GB10 with as much
    card = _card(name, (gib or 0) * GIB, words, called)
    return [card] * count


def _usual_size(known: str) -> float | None:
    """The memory in GiB that most cards of this name have, if it is sold with several."""
    sizes = {
        each.memory_gib
        for label, each in COMMON_DEVICES.items()
        if normalised(without_size(label)) == known and not shares_memory(known)
    }
    return sizes.pop() if len(sizes) == 1 else None


def _card(name: str, mib: float, words: MachineWords, known: str | None = None) -> Memory:
    free = words.free if words.free is not None else free_of(mib)
    rate = words.bandwidth or bandwidth_of(known or name)
    return Memory(name=name, free_mib=free, bandwidth_gb_per_s=rate)


def _assumed(cards: Iterable[Memory], host: Memory) -> list[str]:
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
