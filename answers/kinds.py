"""Name the kinds of methods, machines and engines whose speedups are alike."""

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from answers.kin import Rig
from answers.placement import SHARING

# Methods that draft alike; all other methods draft from the text.
_CLASSES: Mapping[str, str] = {
    "mtp": "mtp", "draft-model": "model", "pard": "model", "dflash": "dflash",
    "dflash2": "dflash", "dspark": "dspark", "eagle3": "eagle3", "other": "other",
}  # fmt: skip
TEXT = "text"
# Engines that verify differently, by a part of their names; the first match counts.
_ENGINES: Mapping[str, str] = {
    "vllm": "vllm", "sglang": "sglang", "mlx": "mlx", "mtplx": "mlx", "ollama": "ollama",
    "llama": "llama.cpp", "lm studio": "llama.cpp", "transformers": "transformers",
}  # fmt: skip
LLAMA_CPP = "llama.cpp"
# Kinds of cards by their names; the first match counts.
_NVIDIA = (
    ("nvidia old", re.compile(r"^(tesla [vpk]|gtx|titan|cmp|quadro|p\d)")),
    ("nvidia shared", re.compile("gb10")),
    ("nvidia datacentre", re.compile(r"^([abhl]\d|tesla)")),
    ("nvidia", re.compile("")),
)
_OTHERS = (
    ("intel", re.compile("arc|intel")),
    ("amd", re.compile(r"radeon|rx |r9\d|pro w\d|vega|instinct|mi\d|\d[ms]$|ryzen")),
    ("unknown", re.compile("")),
)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A setting whose speedup is estimated: a method for a model on a machine.

    `partly` means that a part of the model is in main memory, beside a card.
    """

    rig: Rig
    mixture: bool
    method: str
    engine: str = LLAMA_CPP
    partly: bool = False

    @property
    def kind(self) -> str:
        """The kind of target and how the method drafts, such as `dense, mtp`."""
        return f"{'mixture' if self.mixture else 'dense'}, {drafting_class(self.method)}"

    @property
    def kind_here(self) -> str:
        """The kind, with the kind of machine: `dense, mtp, nvidia old` or `…, partly on a card`."""
        return f"{self.kind}, {'partly on a card' if self.partly else machine_kind(self.rig)}"


def drafting_class(method: str) -> str:
    """The drafting class of a method: methods that draft alike share one name."""
    return _CLASSES.get(method, TEXT)


@cache
def machine_kind(rig: Rig) -> str:
    """The kind of machine: Apple by generation, NVIDIA by age and purpose, all others by maker."""
    if rig.sort not in ("nvidia", "other"):
        return rig.sort
    kinds = _NVIDIA if rig.sort == "nvidia" else _OTHERS
    kind = next(kind for kind, pattern in kinds if pattern.search(rig.card))
    return f"{kind} shared" if kind == "amd" and SHARING.fullmatch(rig.card) else kind


@cache
def engine_kind(name: str) -> str:
    """One name for all engines and forks that verify drafts alike."""
    return next((kind for part, kind in _ENGINES.items() if part in name.lower()), "other")
