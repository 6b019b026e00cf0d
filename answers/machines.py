"""Work out a machine's memory pools and bandwidths from a description or a list of its parts."""

import re
from collections.abc import Iterator, Sequence
from statistics import harmonic_mean

import msgspec
from msgspec.structs import replace

from answers.errors import QuestionError
from answers.model import Memory, ModelFacts, Setting
from answers.names import (
    NamedCard,
    card_key,
    card_label,
    is_placeholder,
    machine_named,
    nearest_cards,
    size_in,
)
from answers.placement import SHARED_SHARE, SHARING, SYSTEM_MIB, Draft, LoadPlan, free_of
from answers.speed import ASSUMED_GB_PER_S, ASSUMED_HOST_GB_PER_S, MachineSpeed, RateOf
from estimates.roofline import devices, normalised

GIB = 1024.0
_SIZE = re.compile(r"(?<!\d)(\d{1,9}(?:\.\d{1,9})?)\s{0,9}G(?:i?B)\b", re.IGNORECASE)
_CORES = re.compile(r"(?<!\d)(\d{1,9})\s{0,9}(?:cores?|c)\b", re.IGNORECASE)
_TRANSFERS = re.compile(r"DDR\d\w?-?\s*(\d{3,5})", re.IGNORECASE)
_CHANNELS = re.compile(r"(?<!\d)(\d{1,9})\s{0,9}-?channels?", re.IGNORECASE)
_DEFAULT_CHANNELS = 2
_BYTES_PER_TRANSFER = 8
_DEFAULT_RAM_GIB = 32
# A graphics unit with less listed memory than this uses a part of main memory.
OWN_MEMORY_MIB = 2048
# Graphics units that always use main memory, even if their driver lists memory.
_ONE_MEMORY = re.compile(r"gb10|orin|jetson .+|apple .+")
_ASSUMED_CARD_GIB = 8  # the size assumed for a card of unknown memory
_MAC = re.compile(r"\b(?:i?mac|macbook|apple)\b", re.IGNORECASE)


class MachineWords(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as a user describes it: cards, sizes in GiB (`free` in MiB), bandwidths in GB/s."""

    gpus: tuple[str, ...] = ()
    vram: float | None = None
    free: float | None = None
    ram: float | None = None
    bandwidth: float | None = None
    ram_bandwidth: float | None = None
    cpu: str | None = None

    @property
    def described(self) -> bool:
        """Whether the user describes a machine other than the present one."""
        return bool(self.gpus) or self.vram is not None or self.ram is not None


class Computer(msgspec.Struct, frozen=True, kw_only=True):
    """A computer's memory pools and bandwidths, and the assumptions behind its description."""

    devices: tuple[Memory, ...]
    host: Memory
    speed: MachineSpeed
    notes: tuple[str, ...] = ()
    processor: str | None = None
    unified: bool = False  # the device's memory is a part of the host's
    described: bool = False  # described in words, so it is not the present machine
    machines: int = 1  # equal machines with one memory each, of which one is planned

    def load(
        self,
        target: ModelFacts,
        setting: Setting,
        draft: ModelFacts | None = None,
        *,
        draft_on_host: bool = False,
    ) -> LoadPlan:
        """The plan to load a target, and its draft model if it has one, into free memory."""
        return LoadPlan(
            target=target,
            setting=setting,
            devices=self.devices,
            host=self.host,
            unified=self.unified,
            draft=Draft(facts=draft, on_host=draft_on_host) if draft else None,
        )

    def rate_notes(self) -> Iterator[tuple[RateOf, str]]:
        """Yield the memories whose bandwidth nobody stated or measured, each with a note."""
        if self.speed.device_reached_gb_per_s is None and not self.unified:
            for card in dict.fromkeys(self.devices):
                if card.bandwidth_gb_per_s is None:
                    yield "device", _assumed_rate(card.name, ASSUMED_GB_PER_S, "--bandwidth")
        if self.speed.host_reached_gb_per_s is None and self.host.bandwidth_gb_per_s is None:
            yield "host", _assumed_rate("main memory", ASSUMED_HOST_GB_PER_S, "--ram-bandwidth")


def described_computer(words: MachineWords) -> Computer:
    """The machine that a description means. Raises `QuestionError` for a card of unknown size."""
    texts = [name.strip() for name in words.gpus if name.lower() != "none"]
    if words.gpus and not texts and (words.vram, words.free) != (None, None):
        raise QuestionError("--gpu none means no card; leave out --vram and --free, or name a card")
    notes: list[str] = []
    named = [machine_named(text) for text in texts]
    cards = [card for text in texts for card in _cards(text, words, notes)]
    if not words.gpus and words.vram:
        cards = [_card(f"card with {words.vram:g} GiB", words.vram * GIB, words)]
    own = [card for card in cards if not shares_memory(card.name)]
    shared = [] if own else cards
    ram = next((each.ram_gib for each in named if each.ram_gib), words.ram)
    if words.ram not in (None, ram) and not shared:
        notes.append(
            f"--gpu already states {ram:g} GB of main memory, so --ram {words.ram:g} is ignored"
        )
    ram = _shared_gib(shared, words, notes) if shared else ram
    if ram is None:
        ram = _DEFAULT_RAM_GIB
        notes.append(f"main memory is not stated, so {ram:g} GB is assumed; set it with --ram")
    cores = _CORES.search(words.cpu or "")
    found = computer_of_parts(
        tuple(own or cards),
        _host(ram, words),
        words,
        cores=int(cores[1]) if cores else None,
        unified=[card.name for card in shared],
        processor=words.cpu or next((each.processor for each in named if each.processor), None),
    )
    if len(shared) > 1:
        notes.append(f"{len(shared)} machines are named, and the plan is for one of them")
    return replace(found, notes=tuple(notes), machines=max(1, len(shared)))


def computer_of_parts(
    cards: tuple[Memory, ...],
    host: Memory,
    words: MachineWords,
    *,
    cores: int | None,
    unified: Sequence[str],
    processor: str | None,
) -> Computer:
    """A computer built from cards and main memory; `unified` cards use a part of main memory."""
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
            unified=bool(unified),
        ),
        processor=processor,
        described=words.described,
    )


def shares_memory(name: str, own_mib: int | None = None) -> bool:
    """Whether a GPU uses main memory; judged by its name unless its own memory size is given."""
    key = card_key(name)
    if own_mib is not None and not _ONE_MEMORY.fullmatch(key or ""):
        return own_mib < OWN_MEMORY_MIB
    if key is not None:
        return key in devices().sharing
    return SHARING.fullmatch(normalised(without_size(name))) is not None


def bandwidth_of(name: str) -> float | None:
    """The bandwidth in GB/s of the card with this name, which may include its memory size.

    `None` if it is unknown.
    """
    key = card_key(name) or ""
    gib = size_in(name)
    slower = devices().gb_per_s_by_gib.get(key, {}).get(f"{gib:g}") if gib else None
    return slower or devices().bandwidth_gb_per_s.get(key)


def without_size(name: str) -> str:
    """A card's name without the memory size that was added to it."""
    return _SIZE.sub("", name).strip()


def card_memory(name: str, mib: float | None, words: MachineWords) -> Memory:
    """A card with this much memory; with `None`, the usual amount for such cards."""
    if mib is None:
        key = card_key(name) or ""
        gib = devices().memory_gib.get(key) or devices().usual_gib.get(key)
        mib = (gib or size_in(name) or _ASSUMED_CARD_GIB) * GIB
    return _card(name, mib, words)


def ddr_gb_per_s(transfers: int, channels: int | None) -> float:
    """Main-memory bandwidth in GB/s, from millions of transfers per second and channels."""
    return transfers * (channels or _DEFAULT_CHANNELS) * _BYTES_PER_TRANSFER / 1000


def _host(gib: float, words: MachineWords) -> Memory:
    """Main memory of this size in GiB; its bandwidth is stated, else derived from its type."""
    text = words.cpu or ""
    transfers, channels = _TRANSFERS.search(text), _CHANNELS.search(text)
    rate = words.ram_bandwidth
    if rate is None and transfers:
        rate = ddr_gb_per_s(int(transfers[1]), int(channels[1]) if channels else None)
    free = max(0.0, gib * GIB - SYSTEM_MIB)
    return Memory(name="host", free_mib=free, bandwidth_gb_per_s=rate)


def _sharing(name: str, host: Memory, words: MachineWords) -> tuple[tuple[Memory, ...], Memory]:
    """The device and host memory of a machine whose graphics unit uses main memory."""
    rate = words.bandwidth or bandwidth_of(name) or host.bandwidth_gb_per_s
    most = SHARED_SHARE * (host.free_mib + SYSTEM_MIB)
    free = min(host.free_mib, most) if words.free is None else words.free
    card = Memory(name=name, free_mib=free, bandwidth_gb_per_s=rate)
    return (card,), replace(host, bandwidth_gb_per_s=host.bandwidth_gb_per_s or rate)


def _cards(text: str, words: MachineWords, notes: list[str]) -> Iterator[Memory]:
    """The cards that a text names, each with the size in the text, else its usual size."""
    named = machine_named(text)
    for card in named.cards:
        written = text if len(named.cards) == 1 else card_label(card.key)
        yield from [_known_card(card, words, notes, written)] * card.count
    missed = [part for part in named.unknown if re.search(r"\d{2}", part)] if named.cards else []
    if (named.cards or (named.processor and not named.unknown)) and not missed:
        return
    text = missed[0] if missed else text
    gib = size_in(text) or words.vram
    if _MAC.search(text):
        raise QuestionError(f"{text!r} does not name a chip; add it, as in 'M4 Max 64 GB'")
    if gib is None and words.free is None and not shares_memory(text):
        near = f"; nearest: {', '.join(found)}" if (found := nearest_cards(text)) else ""
        message = f"no card is called {text!r}{near}; give its memory with --vram to plan for it"
        if is_placeholder(text):
            message = f"{text!r} is a driver's placeholder for an unknown card; name the card"
        raise QuestionError(message)
    yield _card(text, (gib or 0) * GIB, words)


def _known_card(card: NamedCard, words: MachineWords, notes: list[str], written: str) -> Memory:
    """A card from the table, with its memory size.

    The size is the one in the text, else that of `--vram` (for a card that shares main memory,
    `--ram` comes first), else the size in the table.
    """
    label, key = card_label(card.key), card.key
    shares, usual = key in devices().sharing, devices().usual_gib.get(key)
    stated = words.vram if not shares else words.ram or words.vram
    gib = card.gib or stated or devices().memory_gib.get(key) or size_in(key)
    if card.gib and stated and stated != card.gib:
        option = "--vram" if stated == words.vram else "--ram"
        notes.append(
            f"{written!r} already states {card.gib:g} GB, so {option} {stated:g} is ignored"
        )
    if gib is None and usual and words.free is None:
        gib = usual
        notes.append(
            f"{written} is assumed to have {usual} GB; for another size, add the size to the name"
        )
    if gib is None and words.free is None and not shares:
        raise QuestionError(
            f"--gpu {written!r} does not state the memory size; add the size to the name, or set "
            "it with --vram, such as --vram 16"
        )
    name = f"{label} {gib:g} GB" if gib and size_in(key) is None else label
    return _card(name, (gib or 0) * GIB, words)


def _shared_gib(cards: Sequence[Memory], words: MachineWords, notes: list[str]) -> float | None:
    """The size of main memory on a machine whose cards share it."""
    if len(cards) > 1:
        notes.append(
            f"{len(cards)} x {cards[0].name}: the plan is for one machine, because these "
            "machines do not share memory"
        )
    return size_in(cards[0].name) or words.ram or words.vram


def _card(name: str, mib: float, words: MachineWords) -> Memory:
    free = words.free if words.free is not None else free_of(mib)
    if 0 < mib < free:
        raise QuestionError(f"--free {free:,.0f} is more than the {mib:,.0f} MiB of {name}")
    rate = words.bandwidth or bandwidth_of(name)
    estimated = words.free is None
    return Memory(name=name, free_mib=free, estimated=estimated, bandwidth_gb_per_s=rate)


def _assumed_rate(memory: str, gb_per_s: float, option: str) -> str:
    return (
        f"the bandwidth of {memory} is not known, so speeds assume {gb_per_s:g} GB/s; set the "
        f"bandwidth with {option}"
    )
