"""What else the same memory could buy: other ways to draft, to place and to quantise, ranked."""

from collections.abc import Iterator
from dataclasses import replace

from estimates.plan.choices import PlannedModel, PlanOption
from estimates.plan.commands import speculation_by
from estimates.plan.model import Facts
from estimates.plan.placement import Case, fit, largest_context
from estimates.plan.shapes import facts_of, quantisation_of, shape_of
from estimates.plan.speculation import Speculation, speedup
from estimates.plan.speed import MachineSpeed, SpeedEstimate, plain
from schemas.vocabulary import say

_MIXTURES = ("qwen3.5-35b-a3b", "gpt-oss-20b", "qwen3-30b-a3b")
_MIXTURE_QUANTISATION = "Q4_K_M"
# A mixture takes the place of a dense model from about this size on.
_LARGE_MODEL_BYTES = 6e9
_MUCH_SMALLER = 0.5
_LARGER = ("Q8_0", "Q6_K", "Q5_K_M")
_SMALLER = ("Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M", "Q2_K")
_LEAST_GROWTH = 1.1
_HEAD_DEPTH = 3


def of(
    target: PlannedModel,
    draft: PlannedModel | None,
    asked: PlanOption,
    alone: PlanOption,
    speed: MachineSpeed,
    *,
    longer: bool = True,
) -> tuple[PlanOption, ...]:
    """The alternatives, the fastest that fits first; `longer` contexts take the most planning."""
    base = alone.tps
    found = [
        *([_without(asked, alone)] if asked.speculation is not None else []),
        *_other_drafts(target, draft, asked, base, speed),
        *_other_cache(target, draft, asked, base, speed),
        *(_longer_context(target, alone, speed) if longer else ()),
        *_other_weights(alone, speed),
        *_mixtures(alone, speed),
    ]
    return tuple(sorted(found, key=lambda each: (not each.fits, -each.tps.estimate)))


def _without(asked: PlanOption, alone: PlanOption) -> PlanOption:
    layers, before = alone.found.placement.layers, asked.found.placement.layers
    whole = alone.case.target.placed_layers
    more = f", {layers} of {whole} layers on the devices instead of {before}"
    return replace(alone, changes="no draft" + (more if layers > before else ""))


def _other_drafts(
    target: PlannedModel,
    draft: PlannedModel | None,
    asked: PlanOption,
    base: SpeedEstimate,
    speed: MachineSpeed,
) -> Iterator[PlanOption]:
    plain_case = asked.case.without_speculation()
    way = asked.speculation.way if asked.speculation else None
    if way != "text":
        ngram = speculation_by("text", 8)
        yield _speculating("n-gram drafts, no model", target, None, plain_case, ngram, base, speed)
    if asked.case.target.draft_layers and way != "own-head":
        copies = _HEAD_DEPTH if asked.case.target.recurrent else 0
        setting = replace(plain_case.setting, rollback_states=copies)
        case = replace(plain_case, setting=setting, uses_head=True)
        head = speculation_by("own-head", _HEAD_DEPTH)
        what = "its own prediction head (MTP)" + (" instead of a second model" if draft else "")
        yield _speculating(what, target, None, case, head, base, speed)
    if asked.case.draft is not None and asked.speculation is not None:
        yield from _moved_draft(target, draft, asked, base, speed)
    if asked.speculation is not None and asked.case.setting.slots > 1:
        case = replace(asked.case, setting=replace(asked.case.setting, slots=1))
        yield _speculating(
            "as asked, with one slot", target, draft, case, asked.speculation, base, speed
        )


def _moved_draft(
    target: PlannedModel,
    draft: PlannedModel | None,
    asked: PlanOption,
    base: SpeedEstimate,
    speed: MachineSpeed,
) -> Iterator[PlanOption]:
    if asked.case.draft is None or asked.speculation is None or not asked.case.devices:
        return
    if asked.case.draft.on_host:
        return
    case = replace(asked.case, draft=replace(asked.case.draft, on_host=True))
    moved = replace(asked.speculation, draft_on_host=True)
    yield _speculating(
        "as asked, with the draft in main memory", target, draft, case, moved, base, speed
    )


def _other_cache(
    target: PlannedModel,
    draft: PlannedModel | None,
    asked: PlanOption,
    base: SpeedEstimate,
    speed: MachineSpeed,
) -> Iterator[PlanOption]:
    setting = asked.case.setting
    if setting.kv_k != "f16" or not any(x.k_width for x in asked.case.target.layers):
        return
    if not setting.flash_attention:
        return  # llama.cpp quantises no value cache without it
    case = replace(asked.case, setting=replace(setting, kv_k="q8_0", kv_v="q8_0"))
    what = "KV cache in q8_0"
    if asked.speculation is not None:
        what = f"as asked, with the {what}"
        yield _speculating(what, target, draft, case, asked.speculation, base, speed)
    else:
        yield _alone(what, target, case, speed)


def _longer_context(
    target: PlannedModel, alone: PlanOption, speed: MachineSpeed
) -> Iterator[PlanOption]:
    longest = largest_context(alone.case, alone.found.placement)
    if longest is None or longest < 2 * alone.case.setting.context:
        return
    case = replace(alone.case, setting=replace(alone.case.setting, context=longest))
    yield _alone(f"no draft, context of {say.count(longest, 'token')}", target, case, speed)


def _other_weights(alone: PlanOption, speed: MachineSpeed) -> Iterator[PlanOption]:
    """The largest quantisation that still has as many layers on the devices; else one that fits."""
    facts = alone.case.target
    shape = shape_of(facts.name)
    if shape is None:
        return
    for name in _LARGER if alone.fits else _SMALLER:
        other = facts_of(shape, quantisation_of(name), with_head=bool(facts.draft_layers))
        larger = other.model_bytes >= facts.model_bytes * _LEAST_GROWTH
        if larger != alone.fits:
            continue
        source = PlannedModel(facts=other, path=None, server_name=f"{shape.name}-{name}.gguf")
        choice = _alone(f"no draft, weights in {name}", source, _with(alone.case, other), speed)
        least = alone.found.placement.layers if alone.fits else 0
        if choice.fits and choice.found.placement.layers >= least:
            yield choice
            return


def _mixtures(alone: PlanOption, speed: MachineSpeed) -> Iterator[PlanOption]:
    facts = alone.case.target
    if facts.mixture or facts.model_bytes < _LARGE_MODEL_BYTES:
        return
    for name in _MIXTURES:
        shape = shape_of(name)
        if shape is None:
            continue
        mixture = facts_of(shape, quantisation_of(_MIXTURE_QUANTISATION))
        if mixture.model_bytes < facts.model_bytes * _MUCH_SMALLER:
            continue
        file = f"{name}-{_MIXTURE_QUANTISATION}"
        source = PlannedModel(facts=mixture, path=None, server_name=f"{file}.gguf")
        yield _alone(
            f"a mixture of experts of that size: {file}", source, _with(alone.case, mixture),
            replace(speed, anchors=()),
        )  # fmt: skip
        return


def _with(case: Case, facts: Facts) -> Case:
    return replace(case, target=facts)


def _alone(what: str, target: PlannedModel, case: Case, speed: MachineSpeed) -> PlanOption:
    case = case.without_speculation()
    found = fit(case)
    return PlanOption(
        changes=what,
        case=case,
        found=found,
        speculation=None,
        tps=plain(case, found, speed),
        target=target,
        draft=None,
    )


def _speculating(  # noqa: PLR0913, PLR0917 - the parts of the value that is built
    what: str,
    target: PlannedModel,
    draft: PlannedModel | None,
    case: Case,
    speculation: Speculation,
    base: SpeedEstimate,
    speed: MachineSpeed,
) -> PlanOption:
    found = fit(case)
    gain = speedup(case, found, base, speed, speculation)
    return PlanOption(
        changes=what,
        case=case,
        found=found,
        speculation=speculation,
        tps=base.times(gain),
        target=target,
        draft=draft,
    )
