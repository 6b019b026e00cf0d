"""A question: a model on a machine, with the figures of the map that it is about."""

from functools import cached_property

import msgspec

from planner.evidence import PairFigure, Rig, rig_of
from planner.machines import Computer
from planner.model import Setting
from planner.placement import LoadPlan
from planner.rounds import Curve
from planner.speed import SpeedEstimate
from planner.ways import PlannedModel, Way
from schemas.rig import LLAMA_CPP


class Question(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A question: a model on a machine, and the task if one was named.

    `model` is the model's key in the evidence. `pairs` are about the model on any machine, and
    `figures` are those of them for the task, if it has them, or for all tasks. `ways`
    are the ways to draft for it, and `named` is the way that was requested, if any; `alone` means
    that no draft is wanted. `curve` has the model's step times on this machine, measured for steps
    over 1, 2, … tokens, and `plain` its plain speed measured there. `engine` is a key of
    `planner.engine_table.ENGINES`.
    """

    name: str
    model: str
    target: PlannedModel
    computer: Computer
    setting: Setting
    pairs: tuple[PairFigure, ...]
    figures: tuple[PairFigure, ...] = ()
    ways: tuple[Way, ...] = ()
    named: Way | None = None
    alone: bool = False
    task: str | None = None
    engine: str = LLAMA_CPP
    quantisation: str | None = None
    notes: tuple[str, ...] = ()  # further assumptions, besides those about model and machine
    curve: Curve | None = None
    plain: SpeedEstimate | None = None

    @property
    def load(self) -> LoadPlan:
        """The plan to load the target on the machine without a draft."""
        return self.computer.load(self.target.facts, self.setting)

    @cached_property
    def rig(self) -> Rig:
        """The machine's entry in the evidence."""
        return rig_of(self.computer)

    @cached_property
    def figures_here(self) -> tuple[PairFigure, ...]:
        """The map's figures for this model and its variants on this machine, for each method."""
        return tuple(filter(self.rig.has, self.figures))
