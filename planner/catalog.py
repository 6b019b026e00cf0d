"""Look up models by name, without a file: their shapes and sizes, and ways to draft for them."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from msgspec.structs import replace

from planner.engine_commands import default_depth, methods_by, runs, source_of
from planner.engine_table import ENGINES
from planner.evidence import PairFigure
from planner.model import ModelFacts
from planner.model_names import quantisation_of
from planner.names import ModelRef
from planner.presets import (
    DEFAULT_QUANTISATION,
    HEAD,
    Preset,
    drafts_for,
    pairs,
    preset_called,
    preset_for,
    preset_of,
    presets,
)
from planner.shapes import ShapeRow, facts_of, scaled, shape_of, shapes, stated_bytes
from planner.sized_shapes import shape_named
from planner.ways import DEPTHS, PlannedModel, Way
from schemas.method import DRAFT_MODEL
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS, say

# The function that returns a preset's model.
Finder: TypeAlias = Callable[[Preset], PlannedModel | None]
_MB = 1_000_000
# A draft model shares the target's vocabulary, so it is of the same family and much smaller.
_MUCH_SMALLER = 6
_USUAL_DRAFT_SHARE = 12
_FAMILY = re.compile(r"(?P<family>.+?)-(?P<size>e?\d[\d.]*[bm](?:-.*)?)$")


@cache
def model_of(preset: Preset) -> PlannedModel | None:
    """The model of a preset, with its shape from the table; `None` if the table lacks it."""
    facts = preset_facts(preset)
    if facts is None:
        return None
    shape = None if preset.head else shape_named(preset.key)
    file = f"{preset.name.replace(':', '-')}.gguf"
    return _planned(facts, shape, f"-hf {preset.reference}" if preset.repository else file, preset)


def model_meant(ref: ModelRef) -> PlannedModel | None:
    """The model that a name means, from the tables, else from the size in it; `None` without."""
    preset = preset_of(ref)
    if preset is not None:
        return model_of(preset)
    shape = shape_named(ref.slug)
    if shape is None:
        return None
    bits = quantisation_of(ref.quantisation or DEFAULT_QUANTISATION)
    facts = facts_of(shape, bits, with_head=bool(shape.head_layers))
    return _planned(facts, shape, f"{ref.slug}.gguf")


def _planned(
    facts: ModelFacts, shape: ShapeRow | None, server_name: str, preset: Preset | None = None
) -> PlannedModel:
    """A model that is known only by name, with a note of what its sizes are based on."""
    basis = (shape and shape.basis) or f"the plan for {facts.name} uses its published shape"
    note = (
        f"{basis}; its weights are known to within {say.percent(facts.weights_error or 0)}; name a "
        "file or owner/repo:quant for exact sizes"
    )
    return PlannedModel(
        facts=facts,
        path=None,
        server_name=server_name,
        notes=(note,) if facts.weights_error else (),
        preset=preset,
        shape=shape,
    )


def in_engine(model: PlannedModel, engine: str, name: str) -> PlannedModel:
    """The model as an engine loads it, which calls it by this `name` unless it loads GGUF files."""
    gguf = ENGINES[engine].hub is not None
    return replace(model, engine=engine, server_name=model.server_name if gguf else name)


def preset_facts(preset: Preset, file_bytes: int | None = None) -> ModelFacts | None:
    """A preset's shape and sizes from the tables; `None` if they lack the model.

    They are approximate for a head in a separate file: its layers are assumed to be like the
    target's, as many as its size allows, with the target's embedding and output matrices.
    """
    listed = preset.size_mb * _MB if preset.size_mb is not None else None
    size = file_bytes or listed or stated_bytes(preset.key, preset.quantisation)
    bits = quantisation_of(preset.quantisation)
    if preset.head:
        target = next((presets()[x.target] for x in pairs() if x.draft == preset.name), None)
        shape = shape_of(target.key) if target is not None else None
        if shape is None or not size:
            return None
        like = facts_of(shape, bits)
        count = max(1, round(size / like.layers[-1].weight_bytes))
        return scaled(_drafter(like, like.name, count), file_bytes=size)
    shape = shape_named(preset.key)
    if shape is None:
        return None
    facts = facts_of(shape, bits, with_head=preset.method == HEAD)
    kept = (layer for i, layer in enumerate(facts.layers) if i not in preset.pruned_layers)
    facts = replace(facts, name=preset.key, layers=tuple(kept))
    return facts if size is None else scaled(facts, file_bytes=size)


def _drafter(target: ModelFacts, name: str, count: int, output_bytes: float = 0.0) -> ModelFacts:
    """A head or draft model with this many dense layers like the target's last one."""
    dense = replace(target.layers[-1], expert_bytes=0.0, state_bytes=0)
    return replace(
        target,
        name=name,
        layers=(dense,) * count,
        draft_layers=(),
        experts=0,
        embedding_bytes=0.0,
        output_bytes=output_bytes,
        table_bytes=0.0,
        tied=True,
    )


def ways_of(
    target: PlannedModel, found: Iterable[PairFigure], find: Finder = model_of
) -> tuple[Way, ...]:
    """All ways to draft for a target; each combination of method and draft model occurs once.

    llama.cpp's nearest methods are used for methods that it lacks; other engines have no others.
    """
    figures = tuple(found)
    ways: dict[tuple[str, str], Way] = {}
    for way in (
        *(way_by(method, target) for method in methods_by("text", target.engine)[:1]),
        *([way_by(HEAD, target)] if target.facts.draft_layers else []),
        *_drafts(target, find),
        *_measured(target, figures, find),
    ):
        if target.engine != LLAMA_CPP and not runs(target.engine, way.method):
            continue
        seen = (each.depth for each in figures if each.method == way.method and each.depth)
        ways.setdefault(way.key, replace(way, depths=tuple(sorted({*way.depths, *seen}))))
    return tuple(ways.values())


def way_by(
    method: str, target: PlannedModel, draft: PlannedModel | None = None, called: str = ""
) -> Way:
    """A way to draft with this method; `called` is the name of the draft model in a command."""
    source = source_of(method)
    if source == "own-head" and draft is not None:
        source = "other-head"  # the target's head, in its own file
    return Way(
        source=source,
        method=method,
        draft=draft and in_engine(draft, target.engine, "DRAFT"),
        name=called,
        depths=(default_depth(method),) if source == "text" else tuple(DEPTHS),
    )


def way_of(method: str, target: PlannedModel, find: Finder = model_of) -> Way:
    """A way to draft with this method, and with the listed draft file or one of typical size."""
    source = source_of(method)
    if source == "text" or (source == "own-head" and target.facts.draft_layers):
        return way_by(method, target)
    preset = draft_files(target).get(method)
    model = find(preset) if preset else None
    if preset is None or model is None:
        return way_by(method, target, assumed_drafter(method, target))
    return way_by(method, target, model, preset.name)


@cache
def _small_relative(shape: ShapeRow) -> Preset | None:
    small = [
        each
        for each in shapes()
        if family_of(each.name) == family_of(shape.name) and not each.experts
        if each.parameters * _MUCH_SMALLER <= shape.parameters
    ]
    nearest = min(small, key=lambda x: abs(math.log(x.parameters / 1e9)), default=None)
    return preset_for(nearest.name) if nearest else None


def family_of(name: str) -> str:
    """A model's family: the part of its name before the size. All of Llama 3 is one family."""
    found = _FAMILY.match(name)
    return re.sub(r"^(llama-3).*", r"\1", found["family"]) if found else name


def assumed_drafter(method: str, target: PlannedModel) -> PlannedModel:
    """A head or draft model of typical size, for a target without a listed draft file."""
    facts, head = target.facts, source_of(method) != "model"
    share = 1 if head else _USUAL_DRAFT_SHARE
    count = 1 if head else max(1, len(facts.layers) // share)
    small = _drafter(facts, f"{method} draft", count, facts.output_bytes / share)
    what = (
        "a draft as large as one layer of the target"
        if head
        else f"a draft with 1/{_USUAL_DRAFT_SHARE} of the target's layers"
    )
    note = f"no {method} draft file is listed for the target, so {what} is assumed"
    return PlannedModel(facts=small, path=None, server_name="DRAFT.gguf", notes=(note,))


def _drafts(target: PlannedModel, find: Finder) -> Iterator[Way]:
    """Ways to draft with the target's usual draft model, and with its heads in separate files.

    No draft model is offered for a mixture of experts: 43 of 44 public results with that pairing
    are losses.
    """
    for method, draft in draft_files(target).items():
        if method == DRAFT_MODEL and target.facts.mixture:
            continue
        model = find(draft)
        if model is not None:
            yield way_by(method, target, model, draft.name)


def may_have_head(target: PlannedModel) -> bool:
    """Whether the model has a built-in MTP head, or its family has one in a separate file."""
    relatives = {family_of(each.name) for each in presets().values() if each.head == HEAD}
    own = target.shape is not None and target.shape.head_layers > 0
    return own or family_of(target.facts.name) in relatives


def draft_files(target: PlannedModel) -> Mapping[str, Preset]:
    """The draft files for a model by their methods: its usual draft model, and listed heads.

    The draft model is the listed one, else the model of its family that is nearest to 1B.
    """
    listed = drafts_for(target.preset) if target.preset else {}
    relative = _small_relative(target.shape) if target.shape else None
    return {**({DRAFT_MODEL: relative} if relative else {}), **listed}


def _measured(target: PlannedModel, found: Iterable[PairFigure], find: Finder) -> Iterator[Way]:
    """The ways to draft that people measured in this setup, with the draft models they named.

    If no list has the draft's file, the answer shows the figure without a command.
    """
    for each in found:
        entry = METHODS[each.method]
        if not entry.runners or not entry.drafts or entry.instrument:
            continue  # no runner supports the method
        preset = preset_called(each.draft or "")
        model = find(preset) if preset else None
        if preset and model:
            yield way_by(each.method, target, model, preset.name)
        elif source_of(each.method) != "model":
            yield way_of(each.method, target, find)
