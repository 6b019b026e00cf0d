"""An option to switch on: a model with its draft, placed in memory and estimated."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from answers.commands import default_depth, load_words, method_of
from answers.engine_commands import ServeLine, serve_nearest
from answers.engines import ENGINES
from answers.evidence import PairFigure
from answers.model import LayerPlacement, ModelFacts
from answers.placement import Draft, LoadPlan, Projection, fit, largest_context, project
from answers.predict import Prediction, Setup, predicted
from answers.presets import Preset
from answers.rounds import DraftSource, Speculation, YieldCurve
from answers.shapes import ShapeRow
from answers.speed import MachineSpeed, SpeedEstimate, plain
from schemas.rig import LLAMA_CPP

NO_DRAFT = "no draft"
DEPTHS = range(1, 9)  # the draft depth of a draft model or a head
_RATE_ERROR = 1.1  # between people with the same card, model and quantisation


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

    `name` is the name of the draft model in a command. `curve` has the tokens per round published
    for this method on the target, if there are any.
    """

    source: DraftSource
    method: str
    draft: PlannedModel | None = None
    name: str = ""
    depths: tuple[int, ...] = tuple(DEPTHS)
    acceptance: float | None = None
    curve: YieldCurve | None = None
    draft_on_host: bool = False

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
            source=self.source,
            method=self.method,
            depth=depth,
            acceptance=self.acceptance,
            curve=self.curve,
        )


class PlanOption(msgspec.Struct, frozen=True, kw_only=True):
    """One way to use the memory: the models to load, their placement and their speed.

    `parts` names the option: "no draft" or its way of drafting, then what else it changes.
    `figures` is what people measured with this way of drafting on such a machine. `by_curve` has,
    for comparison, the best depth and its speedup by a measured curve.
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
    before: SpeedEstimate | None = None  # the speed without speculation that `gain` refers to
    predicted: Prediction | None = None
    figures: PairFigure | None = None
    by_curve: tuple[int, SpeedEstimate] | None = None

    @property
    def changes(self) -> str:
        return ", ".join(self.parts)

    @property
    def is_here(self) -> bool:
        """Whether the command names only files that are on this disk or on the hub."""
        return all(each.is_here for each in (self.target, self.draft) if each is not None)

    @property
    def command(self) -> ServeLine | None:
        """The server line that loads the option; `None` if a file cannot be found."""
        return self.line if self.is_here else None

    @property
    def line(self) -> ServeLine | None:
        """The engine's server line that loads the option, even if its files cannot be found."""
        engine = ENGINES[self.target.engine]
        if engine.server == LLAMA_CPP:
            extra = load_words(self.case.setting, self.found.placement)
            extra += [] if self.draft is None else ["-ngld", str(self.case.draft_layers)]
        else:
            extra = engine.load_words(self.case.setting.context, len(self.case.devices))
        return serve_nearest(
            engine.server,
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


def option(
    way: Way,
    alone: PlanOption,
    setup: Setup,
    placed: Mapping[int, Projection],
    figures: PairFigure | None = None,
) -> PlanOption:
    """The option for a way to draft, at its measured depth, else at the depth predicted fastest.

    If the map's figure replaces the prediction, the option holds both. Depths beyond a measured
    curve are not compared with depths that the curve covers.
    """
    timed = tuple(filter(setup.curve_for, way.depths))
    depths = timed or way.depths
    if figures is not None:
        measured = figures.depth or default_depth(way.method)
        if figures.depth is not None and measured not in depths:
            figures = None  # another depth was requested, which nobody measured
        elif measured in depths:
            depths = (measured,)
    each_depth = _predictions(way, alone, setup, placed, depths)
    depth = max(each_depth, key=lambda each: (placed[each].fits, each_depth[each].gain.estimate))
    gain = each_depth[depth].gain
    found = replace(
        alone,
        parts=(way.label,),
        case=way.load(alone.case, depth),
        found=placed[depth],
        speculation=way.speculation(depth),
        before=alone.tps,
        tps=alone.tps.times(gain),
        draft=way.draft,
        way=way,
        gain=gain,
        predicted=each_depth[depth],
    )
    if figures is None:
        return found
    curves = _predictions(way, alone, setup, placed, timed)
    return _with_figures(found, alone, figures, curves, timed_here=setup.curve is not None)


def _with_figures(
    found: PlanOption,
    alone: PlanOption,
    figures: PairFigure,
    curves: Mapping[int, Prediction],
    *,
    timed_here: bool,
) -> PlanOption:
    """The option with the map's figure, and the best depth by a measured curve.

    The rates are those of the people behind the figure, unless a step was timed on this machine.
    """
    low, high = figures.interval
    gain = SpeedEstimate(estimate=figures.speedup, low=low, high=high, basis=figures.tier)
    before = alone.tps
    if figures.baseline_tps and not timed_here:
        rate = figures.baseline_tps
        before = replace(gain, estimate=rate, low=rate / _RATE_ERROR, high=rate * _RATE_ERROR)
    depths = [(depth, each.gain) for depth, each in curves.items() if each.curve]
    best = max(depths, key=lambda each: each[1].estimate, default=None)
    tps = before.times(gain)
    return replace(found, before=before, tps=tps, gain=gain, figures=figures, by_curve=best)


def _predictions(
    way: Way,
    alone: PlanOption,
    setup: Setup,
    placed: Mapping[int, Projection],
    depths: Iterable[int],
) -> Mapping[int, Prediction]:
    """The predicted gains of a way to draft, by depth."""
    return {
        depth: predicted(setup, load, placed[depth], way.speculation(depth))
        for depth, load in way.loads(alone.case, depths).items()
    }
