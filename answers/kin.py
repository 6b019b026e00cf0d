"""Identify a machine in the evidence, and choose the figures about it."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from answers.evidence import PairFigure
from answers.machines import Computer
from answers.rates import is_processor
from answers.speed import (
    EFFICIENCY,
    MachineSpeed,
)

_APPLE = re.compile(r"(?:apple )?(m\d+)\b.*")
_SAME_SIZE = 0.1  # sizes are printed in whole GB
_NVIDIA = re.compile(r"(rtx|gtx|tesla|quadro|gb10|cmp|titan|[abhlpv]\d)")


# The share of the nominal bandwidth that plain decoding reaches, by kind of card: medians over
# cards of the kind in `results/` (`answers/learned.json`). Other cards reach `EFFICIENCY`.
_EFFICIENCY = (
    (re.compile(r"gtx 1|tesla|quadro p|p\d|v100|titan|cmp"), 0.48),
    (re.compile(r"rtx|[abhl]\d"), 0.71),
    (re.compile(r"apple m[12]\b"), 0.51),
    (re.compile(r"apple m3"), 0.63),
    (re.compile(r"apple m\d"), 0.76),
)


class Rig(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as the evidence names it: a card and the number of such cards, or a processor.

    `gib` is the memory of all cards together, if it is known.
    """

    card: str
    cards: int = 1
    on_cpu: bool = False
    gib: float | None = None

    def has(self, pair: PairFigure) -> bool:
        """Whether a figure is about this machine."""
        if self.on_cpu != pair.on_cpu:
            return False
        if self.on_cpu:
            return is_processor(pair.card, self.card)
        if (pair.card, pair.cards) != (self.card, self.cards):
            return False
        return not (self.gib and pair.gib) or math.isclose(self.gib, pair.gib, rel_tol=_SAME_SIZE)

    @property
    def sort(self) -> str:
        """The kind of device: an Apple chip's generation, another card's maker, or `cpu`."""
        return "cpu" if self.on_cpu else _sort_of(self.card)


@cache
def _sort_of(card: str) -> str:
    chip = _APPLE.fullmatch(card)
    if chip:
        return f"apple {chip[1]}"
    return "nvidia" if _NVIDIA.match(card) else "other"


@lru_cache(maxsize=1024)
def speed_of(computer: Computer) -> MachineSpeed:
    """A computer's bandwidths, with the efficiency usual for its kind of card."""
    return replace(computer.speed, efficiency=efficiency_of(rig_of(computer).card))


@cache
def efficiency_of(card: str) -> float:
    """The share of its nominal bandwidth that a kind of card reaches in plain decoding."""
    return next((share for cards, share in _EFFICIENCY if cards.match(card)), EFFICIENCY)


@lru_cache(maxsize=1024)
def rig_of(computer: Computer) -> Rig:
    """A computer's entry in the evidence: the names and number of its cards, or its processor."""
    if not computer.devices:
        return Rig(card=computer.host.card, on_cpu=True)
    counts = Counter(memory.card for memory in computer.devices)
    sizes = [memory.gib for memory in computer.devices]
    return Rig(
        card=" + ".join(sorted(counts)),
        cards=sum(counts.values()) * computer.machines,
        gib=None if None in sizes or len(counts) > 1 else sum(filter(None, sizes)),
    )


def pairs_here(pairs: Iterable[PairFigure], rig: Rig) -> tuple[PairFigure, ...]:
    """The figures about a machine."""
    return tuple(pair for pair in pairs if rig.has(pair))
