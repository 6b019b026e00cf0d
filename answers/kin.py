"""Choose the figures for a machine: its own, else those of the most similar machines."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from answers.evidence import Found, Report, found_here
from answers.machines import Computer, without_size
from answers.names import card_key
from answers.rates import is_processor
from answers.speed import (
    EFFICIENCY,
    WIDER_STEP,
    WIDER_STEP_APPLE,
    WIDER_STEP_LATER_APPLE,
    MachineSpeed,
)
from estimates.roofline import normalised

_APPLE = re.compile(r"(?:apple )?(m\d+)\b.*")
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
    """A machine as the evidence names it: a card and the number of such cards, or a processor."""

    card: str
    cards: int = 1
    on_cpu: bool = False

    def has(self, report: Report) -> bool:
        """Whether a report is about this machine."""
        if self.on_cpu != report.on_cpu:
            return False
        if self.on_cpu:
            return is_processor(report.card, self.card)
        return (report.card, report.cards) == (self.card, self.cards)

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


class Kin(msgspec.Struct, frozen=True, kw_only=True):
    """The gain that people got with a model on other machines, and the cards of those machines."""

    found: Found
    cards: tuple[str, ...]


@lru_cache(maxsize=1024)
def speed_of(computer: Computer) -> MachineSpeed:
    """A computer's bandwidths, with the step cost and efficiency usual for its kind of card."""
    rig = rig_of(computer)
    wider = WIDER_STEP
    if rig.sort.startswith("apple"):
        wider = WIDER_STEP_APPLE.get(rig.sort, WIDER_STEP_LATER_APPLE)
    return replace(computer.speed, wider_step=wider, efficiency=efficiency_of(rig.card))


@cache
def efficiency_of(card: str) -> float:
    """The share of its nominal bandwidth that a kind of card reaches in plain decoding."""
    return next((share for cards, share in _EFFICIENCY if cards.match(card)), EFFICIENCY)


@lru_cache(maxsize=1024)
def rig_of(computer: Computer) -> Rig:
    """A computer's entry in the evidence: the names and number of its cards, or its processor."""
    if not computer.devices:
        return Rig(card=normalised(computer.processor or ""), on_cpu=True)
    called = (memory.name for memory in computer.devices)
    counts = Counter(card_key(name) or normalised(without_size(name)) for name in called)
    return Rig(card=" + ".join(sorted(counts)), cards=sum(counts.values()))


def reports_here(reports: Iterable[Report], rig: Rig) -> Sequence[Report]:
    """The reports about a machine; if any used the machine's usual backend, only those."""
    own = [report for report in reports if rig.has(report)]
    usual = {"nvidia": ("cuda",), "cpu": ("cpu",)}.get(rig.sort, ())
    return [report for report in own if report.backend in usual] or own


def kin_of(reports: Iterable[Report], rig: Rig, task: str | None, method: str) -> Kin | None:
    """The gain that people got from a method for a model on other machines; `None` if nobody tried.

    Apple's chips are compared only within their generation, and processors only with processors.
    """
    others = [
        report
        for report in reports
        if not rig.has(report) and any(figure.method == method for figure in report.figures)
    ]
    alike = [
        report for report in others if Rig(card=report.card, on_cpu=report.on_cpu).sort == rig.sort
    ]
    near = alike or ([] if rig.sort.startswith("apple") or rig.on_cpu else others)
    if not near:
        return None
    found = next(each for each in found_here(near, task) if each.method == method)
    cards = tuple(dict.fromkeys(report.card for report in near))
    return Kin(found=found, cards=cards)
