"""Name the kinds of methods and machines whose speedups are alike."""

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from estimates.roofline import devices
from planner.evidence import Rig

# Methods that draft alike; all other methods draft from the text.
_CLASSES: Mapping[str, str] = {
    "mtp": "mtp", "draft-model": "model", "pard": "model", "dflash": "dflash",
    "dflash2": "dflash", "dspark": "dspark", "eagle3": "eagle3", "other": "other",
}  # fmt: skip
TEXT = "text"
# Kinds of cards by the beginnings of their names; the first match counts.
_KINDS = (
    ("other", r".* npu|trainium|mali"),
    ("nvidia old", r"tesla [vpk]|gtx|titan|cmp|quadro|p\d"),
    ("nvidia shared", "gb10"),
    ("nvidia datacentre", r"g?[abhl]\d|tesla"),
    ("nvidia", r"rtx|v\d"),
    ("intel", ".*(arc|intel)"),
    ("amd", r".*(radeon|rx |r9\d|pro w\d|vega|instinct|mi\d|\d[ms]$|ryzen)"),
)
_APPLE = re.compile(r"(?:apple )?(m\d+)\b.*")


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A setting whose speedup is estimated: a method for a model on a machine.

    `partly` means that a part of the model is in main memory, beside a card.
    """

    rig: Rig
    mixture: bool
    method: str
    partly: bool = False

    @property
    def kind(self) -> str:
        return kind_of(self.method, mixture=self.mixture)

    @property
    def kind_here(self) -> str:
        """The kind, with the kind of machine: `dense, mtp, nvidia old` or `…, partly on a card`."""
        return f"{self.kind}, {'partly on a card' if self.partly else machine_kind(self.rig)}"


@cache
def kind_of(method: str, *, mixture: bool) -> str:
    """The kind of target and how the method drafts, such as `dense, mtp`."""
    return f"{'mixture' if mixture else 'dense'}, {drafting_class(method)}"


def drafting_class(method: str) -> str:
    """The drafting class of a method: methods that draft alike share one name."""
    return _CLASSES.get(method, TEXT)


@cache
def machine_kind(rig: Rig) -> str:
    """The kind of machine: Apple by generation, NVIDIA by age and purpose, all others by maker."""
    if rig.on_cpu:
        return "cpu"
    if chip := _APPLE.fullmatch(rig.card):
        return f"apple {chip[1]}"
    kind = next((kind for kind, names in _KINDS if re.match(names, rig.card)), "unknown")
    return f"{kind} shared" if kind == "amd" and rig.card in devices().sharing else kind
