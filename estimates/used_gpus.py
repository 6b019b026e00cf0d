"""Find the cards of a machine that an engine ran on."""

import re
from collections.abc import Sequence
from dataclasses import replace

from estimates.gpu_names import vendor_of
from estimates.roofline import devices, normalised
from schemas.submission import Arm, Device, Engine, Gpu, Machine
from schemas.vocabulary.documents import document

_CHIPS = document("chips")
_BACKENDS: dict[str, list[str]] = _CHIPS["backends"]
_HAS_OWN_MEMORY = re.compile("|".join(_CHIPS["own_memory"]), re.IGNORECASE)
_SHARES_MEMORY = re.compile("|".join(_CHIPS["shared_memory"]), re.IGNORECASE)
_BRACKETS = re.compile(r"(?<!\s)\s*+\([^)]{0,200}\)")
_MIB_PER_GIB = 1024
# The firmware reserves at most this much memory for the graphics of an ordinary processor.
_SET_ASIDE_MIB = 4096
# Drivers reserve some of a card's memory, so an engine sees less of it.
_RESERVED = 0.12
# A device did not compute if it used less than this share of the fullest device's used memory.
_BUSY = 0.25
_UNKNOWN = Gpu(name="unknown card")


def used_cards(machine: Machine, engine: Engine, arms: Sequence[Arm] = ()) -> tuple[Gpu, ...]:
    """The cards on which an engine ran, in the driver's order, under their usual names.

    They are the devices, among those that the engine lists, whose memory the `arms` used. Each is
    matched with a card of the machine by vendor, name and memory; a device without a match keeps
    the engine's name. If the engine lists no device, all `usable` cards are assumed.
    """
    listed, measured = _listed(engine, arms)
    left = [card for card in machine.gpus if _fits(card, engine.backend)]
    used: list[tuple[int, Gpu]] = []
    for device in listed:
        card = _card_of(device, left)
        if card is not None:
            left.remove(card)
        if card is not None or device.description:
            place = machine.gpus.index(card) if card else len(machine.gpus)
            used.append((place, _named(device, card)))
    cards = tuple(card for _, card in sorted(used, key=lambda pair: pair[0]))
    if not measured:
        cards = _first_choice(cards)
    unseen = () if engine.backend == "other" else (_UNKNOWN,)  # `other` may be a processor
    return cards or usable(machine.gpus, engine.backend) or unseen


def usable(gpus: Sequence[Gpu], backend: str) -> tuple[Gpu, ...]:
    """The default cards of a backend; cards that share memory only if there are no others."""
    fitting = tuple(card for card in gpus if _fits(card, backend))
    return tuple(_disambiguated(card) for card in _first_choice(fitting))


def shares_memory(card: Gpu) -> bool:
    """Whether a card uses main memory, as a processor's integrated graphics do."""
    name, vendor = _BRACKETS.sub("", card.name), _vendor(card)
    if vendor not in ("amd", "intel"):
        return vendor in ("apple", "qualcomm")
    if _HAS_OWN_MEMORY.search(name):
        return False
    return bool(_SHARES_MEMORY.search(name)) or (card.vram_mib or 0) <= _SET_ASIDE_MIB


def find_named(cards: Sequence[Gpu], words: str) -> Gpu | None:
    """The card with all of these words in its name; the shortest name, if several match.

    A driver may print several names for one card. Words that do not identify a model must be the
    whole name.
    """
    asked = set(normalised(words).split())
    names = [(card, set(normalised(card.name).split())) for card in cards]
    fitting = [
        card for card, name in names if asked <= name and (asked == name or _is_model(words))
    ]
    return min(fitting, key=lambda card: len(card.name), default=None) if asked else None


def _fits(card: Gpu, backend: str) -> bool:
    vendor = _vendor(card)
    return vendor == "other" or vendor in _BACKENDS.get(backend, (vendor,))


def _vendor(card: Gpu) -> str:
    return card.vendor or vendor_of(card.name)


def _first_choice(cards: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    return tuple(card for card in cards if not shares_memory(card)) or cards


def _listed(engine: Engine, arms: Sequence[Arm]) -> tuple[list[Device], bool]:
    """The listed devices on which the engine ran, and whether their use of memory was measured."""
    gpus = [each for each in engine.devices or () if each.kind in ("gpu", "igpu")]
    peaks: dict[str, int] = {}
    for memory in (each for arm in arms for each in arm.peak_memory or ()):
        peaks[memory.device] = max(memory.peak_mib, peaks.get(memory.device, 0))
    most = max((peaks.get(each.name, 0) for each in gpus), default=0)
    if most:
        return [each for each in gpus if peaks.get(each.name, 0) >= _BUSY * most], True
    return [each for each in gpus if each.kind == "gpu"] or gpus, False


def _card_of(device: Device, cards: Sequence[Gpu]) -> Gpu | None:
    """The card that matches a device: by name, else by memory, else the first candidate."""
    words, total = device.description or "", device.memory_total_mib
    vendor = vendor_of(words)
    own = [card for card in cards if "other" in (vendor, _vendor(card)) or vendor == _vendor(card)]
    found = find_named(own, words)
    for card in own:
        if found is None and total and card.vram_mib:
            found = card if abs(total / card.vram_mib - 1) <= _RESERVED else None
    shared = _SHARES_MEMORY.search(_BRACKETS.sub("", words))
    if found is None and _is_model(words) and not shared:
        return None
    # A card with dedicated memory would have been found by its size.
    own = [card for card in own if shares_memory(card) or not (shared or (total and card.vram_mib))]
    return found or next(iter(_first_choice(tuple(own))), None)


def _named(device: Device, card: Gpu | None) -> Gpu:
    """A card under the engine's name for it, if that name identifies a model."""
    words = _BRACKETS.sub("", device.description or "")
    if card is None:
        return _disambiguated(Gpu(name=words, vram_mib=device.memory_total_mib))
    same = normalised(words) == normalised(card.name)
    return _disambiguated(card if same or not _is_model(words) else replace(card, name=words))


def _is_model(words: str) -> bool:
    """Whether a name identifies one of its vendor's models; `AMD Radeon Graphics` does not."""
    return re.search("[0-9]", normalised(words)) is not None


def _disambiguated(card: Gpu) -> Gpu:
    """Remove the size of shared memory; of alternative names, keep the only one that fits."""
    if shares_memory(card):
        return replace(card, vram_mib=None)
    names, table = _alternatives(card.name), devices().memory_gib
    sizes = {each: table.get(normalised(each)) for each in names}
    if len(names) == 1 or card.vram_mib is None or None in sizes.values():
        return card
    fitting = [name for name in names if sizes[name] == round(card.vram_mib / _MIB_PER_GIB)]
    return replace(card, name=fitting[0]) if len(fitting) == 1 else card


def _alternatives(name: str) -> list[str]:
    """The alternative names in a card's label, such as `AMD Radeon RX 7600/7600 XT`."""
    first, *others = (part.strip() for part in name.split("/"))
    before = re.match(r"[^0-9]*\s", first)
    return [first, *(f"{before[0] if before else ''}{other}" for other in others)]
