"""List the effects that add up to the logarithm of a setting's speedup in the fit.

An effect has a value and a name made of levels; the fit gives it a coefficient. Each further level
narrows the effect down: `method and shape|mtp|mixture` is the extra gain of mixtures with an MTP
head.
"""

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from answers.kin import Rig

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
# Verification kernels change at certain widths, so the effect of depth is a step function.
_STEPS = (1, 2, 3, 4, 6, 8, 12)
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
_USUAL_TPS, _LEAST_TPS = 30.0, 0.5
_DEEP = 5  # from this depth on, texts differ most


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """The speedup to predict: a method at a depth, for a model on a machine.

    `plain_tps` is the plain speed by the roofline. `physics` is the logarithm of the speedup by the
    formulas of `rounds`, against the target alone in the same placement. `displaced` is the
    logarithm of this placement's plain speed over the best placement's. `limit` is the logarithm of
    the speedup if every drafted token is accepted and a round costs only a plain step and reading
    the draft's weights; `usual_limit` is the same at the usual acceptance. No measured result
    enters any of these values.
    """

    rig: Rig
    unified: bool
    model: str
    mixture: bool
    method: str
    depth: int
    plain_tps: float
    physics: float
    displaced: float = 0.0
    usual_limit: float = math.inf
    limit: float = math.inf
    partly: bool = False  # the model is not entirely on the devices
    engine: str = LLAMA_CPP
    task: str = "all"

    def total(self, above: float) -> float:
        """Turn the log speedup in this placement into the log speedup over the best placement."""
        return self.displaced + min(above, self.usual_limit)

    @property
    def highest(self) -> float:
        """The logarithm of the highest possible speedup over the best placement."""
        return self.displaced + self.limit

    @property
    def sort(self) -> str:
        """The drafting class: methods that draft alike share one name."""
        return drafting_class(self.method)

    @property
    def shape(self) -> str:
        return "mixture" if self.mixture else "dense"

    @property
    def kind(self) -> str:
        """The kind of prediction: the target's shape and the drafting class."""
        return f"{self.shape}, {self.sort}"


def drafting_class(method: str) -> str:
    """The drafting class of a method: methods that draft alike share one name."""
    return _CLASSES.get(method, TEXT)


@cache
def machine_kind(rig: Rig, *, unified: bool) -> str:
    """The kind of machine: Apple by generation, NVIDIA by age and purpose, all others by maker."""
    if rig.sort not in ("nvidia", "other"):
        return rig.sort
    kinds = _NVIDIA if rig.sort == "nvidia" else _OTHERS
    kind = next(kind for kind, pattern in kinds if pattern.search(rig.card))
    return f"{kind} shared" if unified and kind == "amd" else kind


@cache
def engine_kind(name: str) -> str:
    """One name for all engines and forks that verify drafts alike."""
    return next((kind for part, kind in _ENGINES.items() if part in name.lower()), "other")


def effects_of(case: Case) -> dict[str, float]:
    """All effects that apply to a case, by name, with their values.

    The values of `physics` and `plain speed` are logarithms; all other values are 1.
    """
    return dict.fromkeys((*shared_effects(case), *own_effects(case)), 1.0) | sized_effects(case)


def shared_effects(case: Case) -> tuple[str, ...]:
    """The names of the effects that many models and machines share."""
    engine, kind = engine_kind(case.engine), machine_kind(case.rig, unified=case.unified)
    return _shared_names(case.sort, case.shape, kind, engine, case.depth, case.task)


def own_effects(case: Case) -> Iterator[str]:
    """The names of the effects of this model, of this card, and of rare settings."""
    if case.partly and case.sort != TEXT:
        yield f"partly|{case.shape}"
    if case.rig.cards > 1:
        yield f"cards|{case.shape}"
    yield f"pair|{case.model}|{case.sort}"
    yield f"card|{case.rig.card}"


def sized_effects(case: Case) -> dict[str, float]:
    """The effects whose values are not 1."""
    if case.sort == TEXT:  # most rounds are plain steps, be they fast or slow
        return {"physics": case.physics}
    plain = math.log(max(case.plain_tps, _LEAST_TPS) / _USUAL_TPS)
    return {"physics": case.physics, "plain speed": plain}


def step_of(depth: int) -> str:
    """The index of a depth's range; a single verification kernel is assumed for each range."""
    return str(sum(depth > end for end in _STEPS))


@cache
def _shared_names(
    sort: str, shape: str, kind: str, engine: str, depth: int, task: str
) -> tuple[str, ...]:
    levels = (
        ("all",),
        ("method", sort),
        ("method and shape", sort, shape),
        ("kind", kind),
        ("kind and method", kind, sort),
        ("kind and shape", kind, shape),
        ("kind, shape and method", kind, shape, sort),
        ("engine", engine),
        ("engine and method", engine, sort),
        ("engine and kind", engine, kind),
        ("depth", sort, step_of(depth)),
        ("depth and shape", sort, step_of(depth), shape),
        ("task", task),
        ("task and depth", task, "deep" if depth > _DEEP else "shallow"),
    )
    return tuple("|".join(each) for each in levels)
