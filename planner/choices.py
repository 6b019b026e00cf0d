"""An option to switch on: a model with its draft, placed in memory and estimated."""

from collections.abc import Mapping
from functools import cached_property

import msgspec
from msgspec.structs import replace

from planner.acceptance import gain_of
from planner.engine_commands import (
    ServeLine,
    default_depth,
    default_method,
    load_words,
    serve_nearest,
)
from planner.engine_table import ENGINES
from planner.estimate import Accuracy, Setup, typical, usual_depth
from planner.evidence import PairFigure
from planner.kinds import kind_of
from planner.placement import LoadPlan, Projection, fit, largest_context, project
from planner.speed import MachineSpeed, SpeedEstimate, plain
from planner.ways import PlannedModel, Way
from schemas.method import NO_SPECULATION
from schemas.rig import LLAMA_CPP


class PlanOption(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One way to use the memory: the models to load, their placement and their speed.

    The option drafts in a `way` at a `depth`, if it drafts. `figures` is the map's figure of this
    method at this place, if it pulls the estimate; `tried` counts the people who tried the method
    with this model on this card, and on any; if nobody did, those who tried the kind of method.
    """

    case: LoadPlan
    found: Projection
    tps: SpeedEstimate
    target: PlannedModel
    way: Way | None = None
    depth: int = 0
    gain: SpeedEstimate | None = None
    figures: PairFigure | None = None
    tried: tuple[int, int, float] = (0, 0, 0.0)

    @property
    def changes(self) -> str:
        """The option in a few words: its draft source, or that it has none."""
        return self.way.label if self.way else "no draft"

    @property
    def draft(self) -> PlannedModel | None:
        """The draft model that the option loads."""
        return self.way.draft if self.way else None

    @property
    def fits(self) -> bool:
        return self.found.fits

    @property
    def estimated(self) -> bool:
        """Whether the gain is predicted from people's figures, not measured or from formulas."""
        by = self.gain.basis if self.gain else "physics"
        return by not in ("curve", "physics", "here", "doubted", "acceptance")

    @property
    def accuracy(self) -> Accuracy | None:
        """The tested errors of estimates of this kind; `None` if too few people tried the kind."""
        if self.way is None or not self.estimated:
            return None
        mixture = self.case.target.mixture
        return typical().accuracy.get(kind_of(self.way.method, mixture=mixture))

    @property
    def command(self) -> ServeLine | None:
        """The engine's words to load the option; `None` if it lacks the method."""
        engine, case, draft = ENGINES[self.target.engine], self.case, self.draft
        method = default_method(self.way.method, self.depth) if self.way else NO_SPECULATION
        files = self.target.server_name, draft.server_name if draft else None
        if engine.program:
            extra = engine.load_words(case.setting.context, len(case.devices))
            return serve_nearest(engine.label, *files, method, extra)
        extra = load_words(case.setting, self.found.placement)
        extra += [] if draft is None else ["-ngld", str(case.draft_layers)]
        return serve_nearest(LLAMA_CPP, *files, method, extra)


class Placements:
    """Placements and longest contexts of a target, without a draft and with each way to draft.

    The results are cached, because machines with equal memory share them.
    """

    def __init__(self, load: LoadPlan) -> None:
        self._load = load.without_speculation()
        self._ways: dict[tuple[object, ...], Mapping[int, Projection]] = {}
        self._contexts: dict[tuple[object, ...], int | None] = {}

    @cached_property
    def alone(self) -> Projection:
        """The target's placement without a draft, with as many layers on the devices as fit."""
        return fit(self._load)

    def of(self, way: Way, depths: tuple[int, ...]) -> Mapping[int, Projection]:
        """The placement of target and draft for a way to draft, at each depth."""
        key = (way.key, depths)
        if key not in self._ways:
            self._ways[key] = self._at_depths(
                {depth: way.load(self._load, depth) for depth in depths}
            )
        return self._ways[key]

    def longest_context(self, option: PlanOption) -> int | None:
        """The longest context in tokens with an option's placement; `None` if no context fits."""
        way, depth, placement = option.way, option.depth, option.found.placement
        key = (way and way.key, depth, placement)
        if key not in self._contexts:
            load = way.load(self._load, depth) if way else self._load
            self._contexts[key] = largest_context(load, placement)
        return self._contexts[key]

    def _at_depths(self, loads: Mapping[int, LoadPlan]) -> Mapping[int, Projection]:
        load = loads[max(loads)]
        deepest = self.alone if load is self._load else fit(load)
        placement = deepest.placement
        whole = placement.layers == load.target.placed_layers and not placement.cpu_experts
        found = {}
        for depth, shallower in loads.items():
            if shallower == load:
                found[depth] = deepest
            else:  # a model that fits entirely at the greatest depth fits at every depth
                found[depth] = project(shallower, placement) if whole else fit(shallower)
        return found


def without_draft(
    load: LoadPlan, target: PlannedModel, speed: MachineSpeed, found: Projection
) -> PlanOption:
    """The option to load a target without a draft, with this placement."""
    alone = load.without_speculation()
    return PlanOption(case=alone, found=found, tps=plain(alone, found, speed), target=target)


def option(way: Way, alone: PlanOption, setup: Setup, placements: Placements) -> PlanOption:
    """The option for a way to draft, at its usual depth.

    If rounds or their cost were measured, it is the depth predicted fastest.
    """
    depths = _depths(way, setup)
    placed, loads = placements.of(way, depths), {n: way.load(alone.case, n) for n in depths}
    gains = {n: way.measured.get(n) or gain_of(setup, loads[n], placed[n], way, n) for n in depths}
    depth = max(gains, key=lambda each: (placed[each].fits, gains[each].estimate))
    gain, here = gains[depth], setup.here(way.method)
    return replace(
        alone,
        case=loads[depth],
        found=placed[depth],
        tps=alone.tps.times(gain),
        way=way,
        depth=depth,
        gain=gain,
        figures=here[0] if here and gain.basis != "curve" else None,
        tried=setup.tried(way.method, mixture=alone.case.target.mixture),
    )


def _depths(way: Way, setup: Setup) -> tuple[int, ...]:
    """The depths to compare: all that a measured curve covers.

    Otherwise, only the one that most people use with the method for this model.
    """
    if way.measured or len(way.depths) == 1:
        return way.depths
    timed = tuple(filter(setup.curve_for, way.depths))
    if timed and way.source != "text":
        return timed
    if way.accepted is not None and way.accepted.drafting_ms is not None:  # counted at each depth
        return way.depths
    here = next((pair.depth for pair in setup.here(way.method) if pair.depth), None)
    known = here or usual_depth(setup.question.figures, way.method) or default_depth(way.method)
    return (min(way.depths, key=lambda depth: abs(depth - known)),)
