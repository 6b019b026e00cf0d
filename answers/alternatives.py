"""Rank other uses of the same memory: other drafts, placements, quantisations and models."""

from collections.abc import Iterator
from typing import TypeAlias

from msgspec.structs import replace

from answers.answer import Answer, notes_of, setup_for
from answers.choices import NO_DRAFT, PlannedModel, PlanOption
from answers.estimate import Setup, predicted
from answers.model import ModelFacts
from answers.model_names import quantisation_of
from answers.placement import LoadPlan, fit
from answers.rounds import Speculation
from answers.shapes import facts_of, shape_of
from answers.speed import plain
from answers.usual_weights import QUANTISATIONS
from answers.warnings import warnings_for

Parts: TypeAlias = tuple[str, ...]
_MIXTURES = ("qwen3.5-35b-a3b", "gpt-oss-20b", "qwen3-30b-a3b")
_MIXTURE_QUANTISATION = "Q4_K_M"
# Only dense models of at least this size get a mixture of experts as an alternative.
_LARGE_MODEL_BYTES = 6e9
_MUCH_SMALLER = 0.5
_LEAST_GROWTH = 1.1


def with_details(found: Answer) -> Answer:
    """The answer, with alternatives and warnings added."""
    warned = warnings_for(found.asked, found.alone, found.speedup)
    return replace(found, alternatives=_alternatives(found), warnings=(*warned, *notes_of(found)))


def _alternatives(found: Answer) -> tuple[PlanOption, ...]:
    """All alternatives and the other ways to draft: those that fit first, then by falling speed."""
    asked, alone = found.asked, found.alone
    setup = setup_for(found.question, alone)
    layers, before = alone.found.placement.layers, asked.found.placement.layers
    whole = alone.case.target.placed_layers
    more = f"{layers} of {whole} layers on the devices instead of {before}"
    without = replace(alone, parts=(NO_DRAFT, more) if layers > before else (NO_DRAFT,))
    listed = [
        *([without] if asked.speculation is not None else []),
        *(each for each in found.options if each is not asked),
        *(
            _option(asked, parts, case, speculation, setup)
            for parts, case, speculation in (*_draft_elsewhere(asked), *_other_cache(asked))
        ),
        *_other_weights(alone, setup),
        *_mixtures(alone, setup),
    ]
    return tuple(sorted(listed, key=lambda each: (not each.fits, -each.tps.estimate)))


def _draft_elsewhere(asked: PlanOption) -> Iterator[tuple[Parts, LoadPlan, Speculation]]:
    """The requested plan with its draft model in main memory."""
    draft, drafts = asked.case.draft, asked.speculation
    if draft is not None and drafts is not None and asked.case.devices and not draft.on_host:
        moved = replace(asked.case, draft=replace(draft, on_host=True))
        yield (*asked.parts, "with the draft in main memory"), moved, drafts


def _other_cache(asked: PlanOption) -> Iterator[tuple[Parts, LoadPlan, Speculation | None]]:
    setting = asked.case.setting
    if setting.kv_k != "f16" or not any(layer.k_width for layer in asked.case.target.layers):
        return
    if not setting.flash_attention:
        return  # llama.cpp needs it to quantise the value cache
    case = replace(asked.case, setting=replace(setting, kv_k="q8_0", kv_v="q8_0"))
    cache = "KV cache in q8_0"
    parts = (cache,) if asked.speculation is None else (*asked.parts, f"with the {cache}")
    yield parts, case, asked.speculation


def _other_weights(alone: PlanOption, setup: Setup) -> Iterator[PlanOption]:
    """The largest other quantisation that is certain to fit: larger if `alone` is, else smaller.

    A larger quantisation must not move layers of the target off the devices.
    """
    facts = alone.case.target
    shape = alone.target.shape
    if shape is None:
        return
    for name in QUANTISATIONS:
        other = facts_of(shape, quantisation_of(name), with_head=bool(facts.draft_layers))
        larger = other.model_bytes >= facts.model_bytes * _LEAST_GROWTH
        if larger != alone.found.sure:
            continue
        parts = (NO_DRAFT, f"weights in {name}")
        choice = _other_target(alone, parts, other, f"{shape.name}-{name}", setup)
        least = alone.found.placement.layers if alone.found.sure else 0
        if choice.found.sure and choice.found.placement.layers >= least:
            yield choice
            return


def _mixtures(alone: PlanOption, setup: Setup) -> Iterator[PlanOption]:
    """The first listed mixture of experts with at least half of a large dense target's bytes."""
    facts = alone.case.target
    if facts.mixture or facts.model_bytes < _LARGE_MODEL_BYTES:
        return
    for name in _MIXTURES:
        shape = shape_of(name)
        if shape is None:
            continue
        mixture = facts_of(shape, quantisation_of(_MIXTURE_QUANTISATION))
        if mixture.model_bytes >= facts.model_bytes * _MUCH_SMALLER:
            file = f"{name}-{_MIXTURE_QUANTISATION}"
            parts = (f"a mixture of experts of similar size: {file}",)
            yield _other_target(alone, parts, mixture, file, setup)
            return


def _other_target(
    alone: PlanOption, parts: Parts, facts: ModelFacts, file: str, setup: Setup
) -> PlanOption:
    """An option that loads a different target model, without a draft."""
    case = replace(alone.case, target=facts)
    target = PlannedModel(facts=facts, path=None, server_name=f"{file}.gguf")
    return replace(_option(alone, parts, case, None, setup), target=target)


def _option(
    like: PlanOption,
    parts: Parts,
    case: LoadPlan,
    speculation: Speculation | None,
    setup: Setup,
) -> PlanOption:
    """An option for this load plan and speculation, with its placement and estimated speed."""
    found = fit(case)
    gain = predicted(setup, case, found, speculation).gain if speculation else None
    return replace(
        like,
        parts=parts,
        case=case,
        found=found,
        speculation=speculation,
        tps=setup.base.times(gain) if gain else plain(case, found, setup.machine),
        gain=gain,
        figures=None,
        draft=like.draft if case.draft else None,
    )
