"""Look up models by name, without a file: their shapes and sizes, and ways to draft for them."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from msgspec.structs import replace

from answers.choices import DEPTHS, PlannedModel, Way
from answers.commands import default_depth, methods_by, source_of
from answers.evidence import PairFigure
from answers.learned import learned
from answers.model import ModelFacts
from answers.model_names import model_key, quantisation_of
from answers.placement import LoadPlan, fit
from answers.presets import (
    DEFAULT_QUANTISATION,
    HEAD,
    Preset,
    PresetPair,
    default_draft,
    pairs,
    preset_named,
    presets,
)
from answers.rounds import YieldCurve
from answers.shapes import ShapeRow, facts_of, scaled, shape_of, shapes, stated_bytes
from answers.sized_shapes import estimate_note, shape_named
from schemas.vocabulary import METHODS, say

_MB = 1_000_000
_BY_SHAPE = "the plan for {name} uses its published shape"
_WITHIN = (
    "; its weights are known to within {error}; name a file or owner/repo:quant for exact sizes"
)
# A draft model shares the target's vocabulary, so it is of the same family and much smaller.
_MUCH_SMALLER = 6
_USUAL_DRAFT_SHARE = 12
# The usual quantisations of published files, the largest first, and the only one of some models.
QUANTISATIONS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "Q2_K")
_ONLY = "MXFP4"
_WORTH_TRYING = 1 / 3  # the chance that a quantisation fits whole
_FAMILY = re.compile(r"(?P<family>.+?)-(?P<size>\d[\d.]*[bm](?:-.*)?)$")


def model_by_name(preset: Preset) -> PlannedModel | None:
    """The model of a preset, with its shape from the table; `None` if the table lacks it."""
    facts = preset_facts(preset)
    if facts is None:
        return None
    file = f"{preset.name.replace(':', '-')}.gguf"
    name = f"-hf {preset.reference}" if preset.repository else file
    return PlannedModel(facts=facts, path=None, server_name=name, notes=tuple(_basis(facts)))


@cache
def model_named(name: str) -> PlannedModel | None:
    """A model by its name: from the tables, else from the size in the name; `None` if both fail."""
    preset = preset_named(name)
    if preset is not None:
        return model_by_name(preset)
    shape = shape_named(name)
    if shape is None:
        return None
    bits = quantisation_of(name) or quantisation_of(DEFAULT_QUANTISATION)
    facts = facts_of(shape, bits, with_head=bool(shape.head_layers))
    return PlannedModel(
        facts=facts, path=None, server_name=f"{model_key(name)}.gguf", notes=tuple(_basis(facts))
    )


def _basis(facts: ModelFacts) -> Iterator[str]:
    """The assumptions behind the sizes of a model that is known only by name."""
    if facts.weights_error:
        basis = estimate_note(facts.name) or _BY_SHAPE.format(name=facts.name)
        yield basis + _WITHIN.format(error=say.percent(facts.weights_error))


def largest_quantisation(load: LoadPlan, *, certain: bool = False) -> str | None:
    """The largest usual quantisation in which this plan's target fits whole, or `None`.

    Without `certain`, it may fit only if other programs are closed.
    """
    usual = preset_named(load.target.name)
    own = usual is not None and usual.quantisation == _ONLY
    for name in (_ONLY,) if own else QUANTISATIONS:
        model = model_named(f"{load.target.name}:{name}")
        if model is not None:
            found = fit(replace(load, target=model.facts))
            if found.fits_whole and (found.sure if certain else found.chance >= _WORTH_TRYING):
                return name
    return None


def preset_facts(preset: Preset, file_bytes: int | None = None) -> ModelFacts | None:
    """A preset's shape and sizes from the tables; `None` if they lack the model.

    They are approximate for a head in a separate file: its layers are assumed to be like the
    target's, as many as its size allows, with the target's embedding and output matrices.
    """
    listed = preset.size_mb * _MB if preset.size_mb is not None else None
    size = file_bytes or listed or stated_bytes(preset.model, preset.quantisation)
    bits = quantisation_of(preset.quantisation)
    if preset.head:
        target = next((presets()[x.target] for x in pairs() if x.draft == preset.name), None)
        shape = shape_of(target.model) if target is not None else None
        if shape is None or not size:
            return None
        like = facts_of(shape, bits)
        count = max(1, round(size / like.layers[-1].weight_bytes))
        return scaled(_drafter(like, like.name, count), file_bytes=size)
    shape = shape_named(preset.model)
    if shape is None:
        return None
    facts = facts_of(shape, bits, with_head=preset.method == HEAD)
    kept = (layer for i, layer in enumerate(facts.layers) if i not in preset.pruned_layers)
    facts = replace(facts, name=model_key(preset.model), layers=tuple(kept))
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
    name: str,
    target: PlannedModel,
    found: Iterable[PairFigure],
    find: Callable[[str], PlannedModel | None],
    *,
    depth: int | None = None,
    acceptance: float | None = None,
) -> tuple[Way, ...]:
    """All ways to draft for a target; each combination of method and draft model occurs once.

    `find` returns a draft model by its name. A `depth` or an `acceptance` applies to all ways
    except text methods.
    """
    figures = tuple(found)
    ways: dict[tuple[str, str], Way] = {}
    for way in (
        way_by(methods_by("text")[0], name, target),
        *([way_by(HEAD, name, target)] if target.facts.draft_layers else []),
        *_drafts(name, target, find),
        *_measured(name, target, figures, find),
    ):
        if way is not None:
            deeper = {each.depth for each in figures if each.method == way.method and each.depth}
            depths = tuple(sorted({*way.depths, *deeper}))
            if way.source != "text":
                depths = (depth,) if depth else depths
                ways.setdefault(way.key, replace(way, depths=depths, acceptance=acceptance))
            else:
                ways.setdefault(way.key, replace(way, depths=depths))
    return tuple(ways.values())


def way_by(
    method: str,
    name: str,
    target: PlannedModel,
    draft: PlannedModel | None = None,
    called: str = "",
) -> Way:
    """A way to draft with this method; `called` is the name of the draft model in a command."""
    source = source_of(method)
    if source == "own-head" and draft is not None:
        source = "other-head"  # the target's head, in its own file
    curves = _curves(method, target.facts.name, name)
    return Way(
        source=source,
        method=method,
        draft=draft,
        name=called,
        depths=(default_depth(method),) if source == "text" else tuple(DEPTHS),
        curve=next(curves, None),
    )


def usual_draft(name: str, target: PlannedModel) -> Preset | None:
    """The usual draft model for a target, else the model from its family that is nearest to 1B."""
    known = default_draft(name)
    shape = shape_of(target.facts.name)
    return known if known is not None or shape is None else _small_relative(shape)


@cache
def _small_relative(shape: ShapeRow) -> Preset | None:
    small = [
        each
        for each in shapes()
        if family_of(each.name) == family_of(shape.name) and not each.experts
        if each.parameters * _MUCH_SMALLER <= shape.parameters
    ]
    nearest = min(small, key=lambda x: abs(math.log(x.parameters / 1e9)), default=None)
    return preset_named(nearest.name) if nearest else None


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


def _drafts(
    name: str, target: PlannedModel, find: Callable[[str], PlannedModel | None]
) -> Iterator[Way]:
    """Ways to draft with the target's usual draft model, and with its heads in separate files.

    No draft model is offered for a mixture of experts: 43 of 44 public results with that pairing
    are losses.
    """
    usual = None if target.facts.mixture else usual_draft(name, target)
    for draft in (usual, *_heads_of(name)):
        model = find(draft.name) if draft is not None else None
        if draft is not None and model is not None:
            method = draft.head or methods_by("model")[0]
            yield way_by(method, name, target, model, draft.name)


def listed_drafter(method: str, name: str, target: PlannedModel) -> Preset | None:
    """The listed draft file for a target and a method; `None` if no file is listed."""
    if source_of(method) == "model":
        return usual_draft(name, target)
    return next((each for each in _heads_of(name) if each.head == method), None)


def may_have_head(target: PlannedModel) -> bool:
    """Whether the model has a built-in MTP head, or its family has one in a separate file."""
    name = target.facts.name
    shape = shape_named(name)
    relatives = (each for each in presets().values() if each.head == HEAD)
    family = family_of(name)
    return bool(shape and shape.head_layers) or any(
        family_of(each.name) == family for each in relatives
    )


def _heads_of(name: str) -> Iterator[Preset]:
    """The heads in separate files that draft for a model."""
    preset = preset_named(name)
    for pair in _pairs_of(preset.model if preset else name):
        draft = presets().get(pair.draft)
        if draft is not None and draft.head:
            yield draft


def _measured(
    name: str,
    target: PlannedModel,
    found: Iterable[PairFigure],
    find: Callable[[str], PlannedModel | None],
) -> Iterator[Way]:
    """The ways to draft that people measured in this setup, with the draft models they named."""
    for each in found:
        entry = METHODS[each.method]
        if not entry.runners or not entry.drafts or entry.instrument:
            continue  # no runner supports the method
        if entry.draft == "none" or (
            entry.draft == "built-in" and target.facts.draft_layers and not each.draft
        ):
            yield way_by(each.method, name, target)
        elif (preset := preset_named(each.draft or "")) and (model := find(preset.name)):
            yield way_by(each.method, name, target, model, preset.name)
        elif source_of(each.method) != "model" and not listed_drafter(each.method, name, target):
            # No list has the draft's file, so the answer shows the figure without a command.
            yield way_by(each.method, name, target, assumed_drafter(each.method, target))


@cache
def _pairs_of(model: str) -> tuple[PresetPair, ...]:
    def owner(pair: PresetPair) -> str:
        return presets()[pair.target].model if pair.target in presets() else pair.target

    return tuple(pair for pair in pairs() if pair.fits and owner(pair) == model)


def _curves(method: str, *names: str) -> Iterator[YieldCurve]:
    known = {_plain(each) for each in names}
    for curve in learned().curves:
        if curve.method == method and any(_plain(curve.target) in each for each in known):
            yield curve


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())
