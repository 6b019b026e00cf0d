"""An option to switch on: a model with its draft, placed in memory and estimated."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from answers.commands import default_depth, load_words, method_of
from answers.engine_commands import ServeLine, serve_nearest
from answers.estimate import Prediction, Setup, predicted, usual_depth
from answers.evidence import PairFigure
from answers.model import LayerPlacement, ModelFacts
from answers.placement import Draft, LoadPlan, Projection, fit, largest_context, project
from answers.presets import Preset
from answers.rounds import DraftSource, Speculation
from answers.served_engines import ENGINES
from answers.shapes import ShapeRow
from answers.speed import MachineSpeed, SpeedEstimate, plain
from schemas.rig import LLAMA_CPP

NO_DRAFT = "no draft"
DEPTHS = range(1, 9)  # the draft depth of a draft model or a head


class PlannedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model's shape and sizes, its path if it is on this disk, and its name in a command line.

    The name in the command line is a file, or `-hf owner/repo:quant` for a model that the server
    downloads. `preset` and `shape` are the model's rows in the tables, if they have the model.
    `engine` is the id of the engine that loads it.
    """

    facts: ModelFacts
    path: Path | None
    server_name: str
    notes: tuple[str, ...] = ()
    preset: Preset | None = None
    shape: ShapeRow | None = None
    engine: str = LLAMA_CPP

    @property
    def is_here(self) -> bool:
        """Whether a server can load the model by its name, from this disk or from the hub."""
        of_other = self.engine != LLAMA_CPP and "/" in self.server_name
        return self.path is not None or of_other or self.server_name.startswith("-hf ")


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A way to draft: its source, its method, its draft model if it has one, and its depths.

    `name` is the name of the draft model in a command. `acceptance` is the measured chance that a
    drafted token is accepted, if it is known. `measured` has the speedups by depth that were
    measured on the machine, and `basis` says what was measured and when.
    """

    source: DraftSource
    method: str
    draft: PlannedModel | None = None
    name: str = ""
    depths: tuple[int, ...] = tuple(DEPTHS)
    acceptance: float | None = None
    draft_on_host: bool = False
    measured: Mapping[int, SpeedEstimate] = {}
    basis: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """A key for a way to draft: its method and the name of its draft model."""
        return self.method, self.name

    @property
    def label(self) -> str:
        """The draft source, in a few words."""
        if self.source == "text":
            return f"n-gram drafts ({self.method})"
        if self.source == "own-head":
            return "its own prediction head (MTP)"
        return f"the draft {self.name}" if self.name else self.method

    def loads(self, alone: LoadPlan, depths: Iterable[int]) -> Mapping[int, LoadPlan]:
        """The models to load for this way of drafting, at each depth."""
        load = alone.without_speculation()
        if self.draft is not None:
            draft = Draft(facts=self.draft.facts, on_host=self.draft_on_host)
            load = replace(load, draft=draft)
        if self.source == "own-head":
            load = replace(load, uses_head=True)
        # llama.cpp keeps copies of the recurrent state, to undo rejected tokens of heads.
        if not (alone.target.recurrent and self.source in ("own-head", "other-head")):
            return dict.fromkeys(depths, load)
        return {
            depth: replace(load, setting=replace(load.setting, rollback_states=depth))
            for depth in depths
        }

    def load(self, alone: LoadPlan, depth: int) -> LoadPlan:
        """The models to load for this way of drafting at one depth."""
        return self.loads(alone, (depth,))[depth]

    def speculation(self, depth: int) -> Speculation:
        return Speculation(
            source=self.source, method=self.method, depth=depth, acceptance=self.acceptance
        )


class PlanOption(msgspec.Struct, frozen=True, kw_only=True):
    """One way to use the memory: the models to load, their placement and their speed.

    `parts` names the option: "no draft" or its way of drafting, then what else it changes.
    `figures` is the map's figure of this method at this place, if it pulls the estimate; `tried`
    counts the people who tried the method with this model on this card, and on any; if nobody did,
    those who tried the kind of method.
    """

    parts: tuple[str, ...]
    case: LoadPlan
    found: Projection
    speculation: Speculation | None
    tps: SpeedEstimate
    target: PlannedModel
    draft: PlannedModel | None
    way: Way | None = None
    gain: SpeedEstimate | None = None
    predicted: Prediction | None = None
    figures: PairFigure | None = None
    tried: tuple[int, int, float] = (0, 0, 0.0)

    @property
    def changes(self) -> str:
        return ", ".join(self.parts)

    @property
    def command(self) -> ServeLine | None:
        """The engine's server line that loads the option, with the names of files.

        For an engine that lacks the method, it is llama-server's.
        """
        engine = ENGINES[self.target.engine]
        if engine.server != LLAMA_CPP:
            extra = engine.load_words(self.case.setting.context, len(self.case.devices))
            line = self._line(engine.server, extra)
            if line is not None:
                return line
        extra = load_words(self.case.setting, self.found.placement)
        extra += [] if self.draft is None else ["-ngld", str(self.case.draft_layers)]
        return self._line(LLAMA_CPP, extra)

    def _line(self, server: str, extra: list[str]) -> ServeLine | None:
        return serve_nearest(
            server,
            self.target.server_name,
            None if self.draft is None else self.draft.server_name,
            method_of(self.speculation),
            extra,
        )

    @property
    def draft_name(self) -> str:
        """The name of the draft model in a command line."""
        return self.way.name if self.way else ""

    @property
    def fits(self) -> bool:
        return self.found.fits


class Placements:
    """Placements and longest contexts of a target, without a draft and with each way to draft.

    The results are cached, because machines with equal memory share them. `fixed` is the requested
    placement.
    """

    def __init__(self, load: LoadPlan, fixed: LayerPlacement | None = None) -> None:
        self._load = load.without_speculation()
        self._fixed = fixed
        self._ways: dict[tuple[object, ...], Mapping[int, Projection]] = {}
        self._contexts: dict[tuple[object, ...], int | None] = {}

    @cached_property
    def alone(self) -> Projection:
        """The target's placement without a draft, with as many layers on the devices as fit."""
        return fit(self._load)

    def of(self, way: Way) -> Mapping[int, Projection]:
        """The placement of target and draft for a way to draft, at each of its depths."""
        key = (way.method, way.name, way.depths)
        if key not in self._ways:
            self._ways[key] = self._at_depths(way)
        return self._ways[key]

    def longest_context(self, way: Way | None, depth: int, placement: LayerPlacement) -> int | None:
        """The longest context in tokens with this placement; `None` if no context fits."""
        key = (way and (way.method, way.name), depth, placement)
        if key not in self._contexts:
            load = way.load(self._load, depth) if way else self._load
            self._contexts[key] = largest_context(load, placement)
        return self._contexts[key]

    def _at_depths(self, way: Way) -> Mapping[int, Projection]:
        loads = way.loads(self._load, way.depths)
        load = loads[max(way.depths)]
        deepest = project(load, self._fixed) if self._fixed else fit(load)
        placement = deepest.placement
        whole = placement.layers == load.target.placed_layers and not placement.cpu_experts
        found = {}
        for depth, shallower in loads.items():
            if shallower == load:
                found[depth] = deepest
            else:  # a model that fits entirely at the greatest depth fits at every depth
                alike = self._fixed or whole
                found[depth] = project(shallower, placement) if alike else fit(shallower)
        return found


def without_speculation(
    load: LoadPlan, target: PlannedModel, speed: MachineSpeed, found: Projection
) -> PlanOption:
    """The option to load the target without a draft, with this placement."""
    alone = load.without_speculation()
    return PlanOption(
        parts=(NO_DRAFT,),
        case=alone,
        found=found,
        speculation=None,
        tps=plain(alone, found, speed),
        target=target,
        draft=None,
    )


def option(way: Way, alone: PlanOption, setup: Setup, placements: Placements) -> PlanOption:
    """The option for a way to draft, at its usual depth.

    If the acceptance or the cost of wider steps was measured, it is the depth predicted fastest.
    """
    depths = depths_of(way, setup)
    placed, loads = placements.of(replace(way, depths=depths)), way.loads(alone.case, depths)
    each_depth = {
        depth: Prediction(gain=way.measured[depth])
        if depth in way.measured
        else predicted(setup, loads[depth], placed[depth], way.speculation(depth))
        for depth in depths
    }
    depth = max(each_depth, key=lambda each: (placed[each].fits, each_depth[each].gain.estimate))
    gain = each_depth[depth].gain
    here = setup.here(way.method)
    return replace(
        alone,
        parts=(way.label,),
        case=loads[depth],
        found=placed[depth],
        speculation=way.speculation(depth),
        tps=alone.tps.times(gain),
        draft=way.draft,
        way=way,
        gain=gain,
        predicted=each_depth[depth],
        figures=here[0] if here and each_depth[depth].curve is None else None,
        tried=setup.tried(way.method, mixture=alone.case.target.mixture),
    )


def depths_of(way: Way, setup: Setup) -> tuple[int, ...]:
    """The depths to compare: all that a measured curve covers, or with a known acceptance.

    Otherwise, only the one that most people use with the method for this model.
    """
    if way.measured:
        return way.depths
    timed = tuple(filter(setup.curve_for, way.depths))
    if timed and way.source != "text":
        return timed
    if way.acceptance is not None or len(way.depths) == 1:
        return way.depths
    here = next((pair.depth for pair in setup.here(way.method) if pair.depth), None)
    known = here or usual_depth(setup.figures, way.method) or default_depth(way.method)
    return (min(way.depths, key=lambda depth: abs(depth - known)),)
