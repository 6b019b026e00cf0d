"""Read what people got with a model: the figures of the map, by machine and method.

`evidence.json` has rows of the pipeline's table `pair`, the only place where the figures of several
people are combined, so an answer quotes what every page shows. The pipeline writes the file from
`results/`, and a test compares the two.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

import msgspec

from planner.machines import Computer, is_processor

_SAME_SIZE = 0.1  # sizes are printed in whole GB
Tier = Literal["measured", "imported", "published"]
ALL_TASKS = "all"
_MODE = "-thinking"


class PairFigure(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """The figure of a device with a model and a method, on one task.

    `device` and `target` are the ids of pages and data files, `name` and `target_name` the printed
    names. `card` is a key of `schemas/devices.json`, or a processor if `on_cpu`; `model` is the key
    of the model's names. The figure covers every quantisation or, if `quantisation` is given, only
    this one. `baseline_tps` is the plain rate of the same people, of whom `rated` stated one. `low`
    and `high` are the interval of a measured figure. `depth` and `draft` are those of the run
    nearest to the figure. `offload` means that a part of the model was in main memory. Unless a
    figure is `sure`, each figure behind it has a doubt: it names no card, is a guess or projection,
    is from before 2025, or is by the method's authors.
    """

    device: str
    name: str
    target: str
    target_name: str
    card: str
    cards: int
    on_cpu: bool
    gib: int | None
    model: str
    method: str
    task: str
    tier: Tier
    people: int
    speedup: float
    least: float
    most: float
    quantisation: str | None = None
    baseline_tps: float | None = None
    tps: float | None = None
    rated: int = 0
    low: float | None = None
    high: float | None = None
    depth: int | None = None
    depths: tuple[int, ...] = ()
    draft: str | None = None
    quantisations: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    offload: bool = False
    sure: bool = False


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


@cache
def pairs() -> tuple[PairFigure, ...]:
    """The figures that ship with the program."""
    data = resources.files("planner").joinpath("evidence.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[PairFigure, ...])


def shipped_for(model: str) -> tuple[PairFigure, ...]:
    keys = model.removesuffix(_MODE), f"{model.removesuffix(_MODE)}{_MODE}"
    return of_model({key: [each for each in pairs() if each.model == key] for key in keys}, model)


def of_model(known: Mapping[str, Sequence[PairFigure]], model: str) -> tuple[PairFigure, ...]:
    """A model's figures: `Qwen3.6-27B, thinking` is a mode of Qwen3.6-27B, no other model."""
    base = model.removesuffix(_MODE)
    named = known.get(f"{base}{_MODE}", ())
    modes = tuple(pair for pair in named if ", " in pair.target_name)
    if model != base and len(modes) < len(named):
        return tuple(named)
    return (*known.get(base, ()), *modes)


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


def of_task(here: Iterable[PairFigure], task: str | None, name: str = "") -> tuple[PairFigure, ...]:
    """Each method's figure for a task, else for all tasks; those of most people come first.

    Variants of a model, such as fine-tunes, have separate figures. Figures of the variant called
    `name` come first, then those of the variant with the shortest name.
    """
    whole = [pair for pair in here if pair.quantisation is None]
    found = {
        (pair.device, pair.target, pair.method): pair
        for wanted in (ALL_TASKS, task)
        for pair in whole
        if pair.task == wanted
    }

    def place(pair: PairFigure) -> tuple[bool, int, int, str, str]:
        other = pair.target_name.lower() != name.lower()
        return other, -pair.people, len(pair.target), pair.target, pair.method

    return tuple(sorted(found.values(), key=place))
