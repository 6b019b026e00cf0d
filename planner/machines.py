"""Work out a machine's memory pools and bandwidths from a description or a list of its parts."""

import re
from collections.abc import Iterator
from functools import cache
from statistics import harmonic_mean

import msgspec
from msgspec.structs import replace

from estimates.gpu_names import is_placeholder
from estimates.roofline import ddr_gb_per_s, devices, normalised
from planner.errors import QuestionError
from planner.model import Memory, ModelFacts, Setting
from planner.names import (
    NamedMachine,
    card_key,
    card_label,
    nearest_cards,
    read_machine,
    size_in,
)
from planner.placement import SHARED_SHARE, SYSTEM_MIB, LoadPlan, free_of
from planner.speed import (
    ASSUMED_GB_PER_S,
    ASSUMED_HOST_GB_PER_S,
    MachineSpeed,
    efficiency_of,
    nominal_speed,
)

GIB = 1024.0
_SIZE = re.compile(r"(?<!\d)(\d{1,9}(?:\.\d{1,9})?)\s{0,9}G(?:i?B)\b", re.IGNORECASE)
_TRANSFERS = re.compile(r"DDR\d\w?-?\s*(\d{3,5})", re.IGNORECASE)
_CHANNELS = re.compile(r"(?<!\d)(\d{1,9})\s{0,9}-?channels?", re.IGNORECASE)
_COUNT = re.compile(r"(\d{1,9})\s*[x\N{MULTIPLICATION SIGN}]\s", re.IGNORECASE)
_MOST_CARDS, _MOST_GIB = 99, 4096
DEFAULT_RAM_GIB = 32
# A graphics unit with less listed memory than this uses a part of main memory.
OWN_MEMORY_MIB = 2048
# Graphics units that always use main memory, even if their driver lists memory.
_ONE_MEMORY = re.compile(r"gb10|orin|jetson .+|apple .+")
# Graphics units outside the table that use main memory; some drivers name only their maker.
_SHARING = re.compile(r"((apple )?m\d|\d{4}s|\d{3}m|iris|jetson .+?)\b.*|", re.DOTALL)
_ASSUMED_CARD_GIB = 8  # the size assumed for a card of unknown memory
_THREADS = re.compile(r" \d+ threads$")
_MAC = re.compile(r"\b(?:i?mac|macbook|apple)\b", re.IGNORECASE)


class MachineWords(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as a user describes it: cards, and sizes in GiB (`free` in MiB)."""

    gpus: tuple[str, ...] = ()
    vram: float | None = None
    free: float | None = None
    ram: float | None = None
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
    unified: bool = False  # the device's memory is a part of the host's
    described: bool = False  # described in words, so it is not the present machine
    machines: int = 1  # equal machines with one memory each, of which one is planned

    def load(
        self,
        target: ModelFacts,
        setting: Setting,
        draft: ModelFacts | None = None,
    ) -> LoadPlan:
        """The plan to load a target, and its draft model if it has one, into free memory."""
        return LoadPlan(
            target=target,
            setting=setting,
            devices=self.devices,
            host=self.host,
            unified=self.unified,
            draft=draft,
        )

    def rate_notes(self, *, reads_host: bool) -> Iterator[str]:
        """Yield a note for each memory whose bandwidth nobody stated, if decoding reads it."""
        if not self.unified:
            for card in dict.fromkeys(self.devices):
                if card.bandwidth_gb_per_s is None:
                    yield _assumed_rate(card.name, ASSUMED_GB_PER_S)
        if reads_host and self.host.bandwidth_gb_per_s is None:
            named = "; name its type, as in --cpu 'DDR5-5600'"
            yield _assumed_rate("main memory", ASSUMED_HOST_GB_PER_S) + named


@cache
def described_computer(words: MachineWords, said: NamedMachine | None = None) -> Computer:
    """The machine that a description means, with the parts `said` in the text of a question.

    Raises `QuestionError` for a card of unknown size.
    """
    texts = _named_cards(words)
    notes: list[str] = []
    named = [(text, read_machine(text)) for text in texts] + ([("", said)] if said else [])
    cards = [card for text, each in named for card in _cards(text, each, words, notes)]
    if not words.gpus and words.vram:
        cards = [_card_of_size(words.vram, words)]
    own = [card for card in cards if not card.shares]
    shared = [] if own else cards
    ram = next((each.ram_gib for _, each in named if each.ram_gib), words.ram)
    if shared:
        ram = shared[0].gib or words.ram or words.vram
    elif words.ram not in (None, ram):
        notes.append(
            f"--gpu already states {ram:g} GB of main memory, so --ram {words.ram:g} is ignored"
        )
    if ram is None:
        ram = DEFAULT_RAM_GIB
        notes.append(f"main memory is not stated, so {ram:g} GB is assumed; set it with --ram")
    processor = words.cpu or next((each.processor for _, each in named if each.processor), None)
    found = computer_of_parts(tuple(own or cards), _host(ram, words), words, processor=processor)
    if len(shared) > 1:
        notes.append(
            f"{len(shared)} machines are named, and the plan is for one of them, because they do "
            "not share memory"
        )
    return replace(found, notes=tuple(notes), machines=max(1, len(shared)), described=True)


def _named_cards(words: MachineWords) -> list[str]:
    """The texts that name cards, without `none`. Raises `QuestionError` for a contradiction."""
    texts = [name.strip() for name in words.gpus if name.lower() != "none"]
    if len(texts) < len(words.gpus):
        if texts:
            other = "none, or the other --gpu"
        elif (words.vram, words.free) != (None, None):
            other = "--vram and --free, or name a card"
        else:
            return []
        raise QuestionError(f"--gpu none means no card; leave out {other}")
    for text in texts:
        if (count := _COUNT.match(text)) and not 1 <= int(count[1]) <= _MOST_CARDS:
            raise QuestionError(f"{text!r}: give a number of cards from 1 to {_MOST_CARDS}")
    return texts


def computer_of_parts(
    cards: tuple[Memory, ...], host: Memory, words: MachineWords, *, processor: str | None
) -> Computer:
    """A computer built from cards and main memory; cards that share it use a part of it."""
    unified = next((card for card in cards if card.shares), None)
    if unified:
        rate = unified.bandwidth_gb_per_s or host.bandwidth_gb_per_s
        most = SHARED_SHARE * (host.free_mib + SYSTEM_MIB)
        free = min(host.free_mib, most) if words.free is None else words.free
        cards = (replace(unified, free_mib=free, bandwidth_gb_per_s=rate),)
        host = replace(host, bandwidth_gb_per_s=host.bandwidth_gb_per_s or rate)
    rates = [card.bandwidth_gb_per_s for card in cards if card.bandwidth_gb_per_s]
    return Computer(
        unified=unified is not None,
        devices=cards,
        host=replace(host, card=device_key(processor or "", on_cpu=True)),
        speed=nominal_speed(
            harmonic_mean(rates) if rates else None,  # cards are read one after the other
            host.bandwidth_gb_per_s,
            efficiency=efficiency_of(" + ".join(sorted({card.card for card in cards}))),
            unified=unified is not None,
        ),
    )


def reported_card(name: str, mib: float | None, words: MachineWords) -> Memory:
    """A card under the name that a driver reports, with its memory or, for `None`, the usual one.

    A graphics unit with little memory of its own uses main memory.
    """
    cards = read_machine(name).cards
    key = cards[0].key if len(cards) == 1 else None
    known = devices().memory_gib.get(key or "")
    gib = (cards[0].gib if key else size_in(name)) or known or (mib and round(mib / GIB))
    usual = devices().usual_gib.get(key or "", _ASSUMED_CARD_GIB)
    card = _card(name, key, gib, words, mib=mib or (gib or usual) * GIB)
    if mib is None or _ONE_MEMORY.fullmatch(card.card):
        return card
    return replace(card, shares=mib < OWN_MEMORY_MIB)


def device_key(label: str, *, on_cpu: bool = False) -> str:
    """A device's name in the evidence: a card's name in the table, else the normalised label."""
    return (None if on_cpu else card_key(label)) or normalised(_SIZE.sub("", label))


def is_processor(device: str, processor: str) -> bool:
    """Whether a device in the results is this processor; a stated number of threads is ignored."""
    return bool(processor) and processor in {device, _THREADS.sub("", device)}


def _host(gib: float, words: MachineWords) -> Memory:
    """Main memory of this size in GiB, with the bandwidth of its type if the text names one."""
    text = words.cpu or ""
    transfers, channels = _TRANSFERS.search(text), _CHANNELS.search(text)
    rate = transfers and ddr_gb_per_s(int(transfers[1]), channels and int(channels[1]))
    free = max(0.0, gib * GIB - SYSTEM_MIB)
    return Memory(name="host", free_mib=free, bandwidth_gb_per_s=rate)


def _cards(
    text: str, named: NamedMachine, words: MachineWords, notes: list[str]
) -> Iterator[Memory]:
    """The cards that a text names, each with the size in the text, else its usual size."""
    if (named.ram_gib or 0) > _MOST_GIB:
        raise QuestionError(f"{text!r}: a card has at most {_MOST_GIB:,} GB")
    parts = [*named.unknown]
    for card in named.cards:
        if card.key:
            written = text if text and len(named.cards) == 1 else card_label(card.key)
            found = _known_card(card.key, card.gib, words, notes, written)
        else:
            found = _card_of_size(card.gib or 0, words, parts.pop(0) if parts else None)
        yield from [found] * card.count
    missed = [part for part in parts if re.search(r"\d{2}", part)]
    if missed or not (named.cards or (named.processor and not named.unknown)):
        yield _unknown_card(missed[0] if missed and named.cards else text, words)


def _known_card(
    key: str, gib: float | None, words: MachineWords, notes: list[str], written: str
) -> Memory:
    """A card from the table, with its memory size.

    The size is the one in the text, else that of `--vram` (for a card that shares main memory,
    `--ram` comes first), else the size in the table.
    """
    label, in_name = card_label(key), size_in(key)
    shares, usual = key in devices().sharing, devices().usual_gib.get(key)
    option = "--ram" if shares and words.ram else "--vram"
    stated = words.ram if option == "--ram" else words.vram
    if gib and stated and stated != gib:
        notes.append(f"{written!r} already states {gib:g} GB, so {option} {stated:g} is ignored")
    gib = gib or stated or devices().memory_gib.get(key) or in_name
    if gib is not None and gib > _MOST_GIB:
        raise QuestionError(f"{written!r}: a card has at most {_MOST_GIB:,} GB")
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
    return _card(f"{label} {gib:g} GB" if gib and in_name is None else label, key, gib, words)


def _card_of_size(gib: float, words: MachineWords, called: str | None = None) -> Memory:
    """A card of which only the memory is known, under the name that the table does not have."""
    return _card(f"{called} {gib:g} GB" if called else f"card with {gib:g} GiB", None, gib, words)


def _unknown_card(text: str, words: MachineWords) -> Memory:
    """A card that is not in the table; its memory must be stated, unless it uses main memory."""
    if _MAC.search(text):
        raise QuestionError(f"{text!r} does not name a chip; add it, as in 'M4 Max 64 GB'")
    gib = size_in(text)
    found = _card(text, None, gib, words, mib=(gib or words.vram or 0) * GIB)
    if gib or words.vram or words.free is not None or found.shares:
        return found
    if is_placeholder(text):
        raise QuestionError(
            f"{text!r} is a driver's placeholder for an unknown card; name the card"
        )
    near = f"; nearest: {', '.join(cards)}" if (cards := nearest_cards(text)) else ""
    raise QuestionError(
        f"no card is called {text!r}{near}; give its memory with --vram to plan for it"
    )


def _card(
    name: str, key: str | None, gib: float | None, words: MachineWords, mib: float | None = None
) -> Memory:
    """A card of this size; `mib` is its memory in MiB if that is not its size in GiB."""
    mib = (gib or 0) * GIB if mib is None else mib
    free = words.free if words.free is not None else free_of(mib)
    if 0 < mib < free:
        raise QuestionError(f"--free {free:,.0f} is more than the {mib:,.0f} MiB of {name}")
    found, table = key or normalised(_SIZE.sub("", name)), devices()
    of_size = table.gb_per_s_by_gib.get(found, {}).get(f"{gib or 0:g}")
    return Memory(
        name=name,
        free_mib=free,
        estimated=words.free is None,
        bandwidth_gb_per_s=of_size or table.bandwidth_gb_per_s.get(found),
        card=found,
        gib=gib,
        shares=found in table.sharing if key else _SHARING.fullmatch(found) is not None,
    )


def _assumed_rate(memory: str, gb_per_s: float) -> str:
    return f"the bandwidth of {memory} is not known, so speeds assume {gb_per_s:g} GB/s"
