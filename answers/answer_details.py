"""Add the details of an answer: warnings, and other uses of the same memory.

Other uses are other drafts, cache types, quantisations and models.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from answers import memory_words
from answers.answer import Answer, notes_of
from answers.choices import NO_DRAFT, PlanOption, without_draft
from answers.model import ModelFacts
from answers.model_names import quantisation_of
from answers.placement import LoadPlan, Projection, fit
from answers.sentences import sentence
from answers.shapes import facts_of, shape_of
from answers.speed import plain
from answers.usual_weights import QUANTISATIONS
from answers.ways import PlannedModel
from schemas.vocabulary import say

_MIXTURES = ("qwen3.5-35b-a3b", "gpt-oss-20b", "qwen3-30b-a3b")
_MIXTURE_QUANTISATION = "Q4_K_M"
# Only dense models of at least this size get a mixture of experts as an alternative.
_LARGE_MODEL_BYTES = 6e9
_MUCH_SMALLER = 0.5
_LEAST_GROWTH = 1.1


def with_details(found: Answer) -> Answer:
    """The answer, with alternatives and warnings added.

    Alternatives that fit come first, then those with the highest speed.
    """
    listed = sorted(_alternatives(found), key=lambda each: (not each.fits, -each.tps.estimate))
    warned = (*_warnings(found.asked, found.alone), *notes_of(found))
    return replace(found, alternatives=tuple(listed), warnings=warned)


def _alternatives(found: Answer) -> Iterator[PlanOption]:
    asked, alone = found.asked, found.alone
    layers, before = alone.found.placement.layers, asked.found.placement.layers
    if asked.way is not None:
        whole = alone.case.target.placed_layers
        more = f"{layers} of {whole} layers on the devices instead of {before}"
        yield replace(alone, parts=(NO_DRAFT, more) if layers > before else (NO_DRAFT,))
    yield from (each for each in found.options if each is not asked)
    setting = asked.case.setting
    cached = any(layer.k_width for layer in asked.case.target.layers)
    if asked.way is None and cached and setting.kv_k == "f16" and setting.flash_attention:
        case = replace(asked.case, setting=replace(setting, kv_k="q8_0", kv_v="q8_0"))
        yield _alone(found, case, asked.target, fit(case), "KV cache in q8_0")
    yield from _other_weights(found)
    yield from _mixture(found)


def _other_weights(found: Answer) -> Iterator[PlanOption]:
    """The largest other quantisation that is certain to fit: larger if `alone` is, else smaller.

    A larger quantisation must not move layers of the target off the devices.
    """
    alone, shape = found.alone, found.alone.target.shape
    facts, sure = alone.case.target, alone.found.sure
    if shape is None:
        return
    for name in QUANTISATIONS:
        other = facts_of(shape, quantisation_of(name), with_head=bool(facts.draft_layers))
        larger = other.model_bytes >= facts.model_bytes * _LEAST_GROWTH
        if larger != sure:
            continue
        file, placed = f"{shape.name}-{name}", fit(replace(alone.case, target=other))
        least = alone.found.placement.layers if sure else 0
        if placed.sure and placed.placement.layers >= least:
            yield _other_model(found, other, file, placed, f"weights in {name}")
            return


def _mixture(found: Answer) -> Iterator[PlanOption]:
    """The first listed mixture of experts with at least half of a large dense target's bytes."""
    facts = found.alone.case.target
    if facts.mixture or facts.model_bytes < _LARGE_MODEL_BYTES:
        return
    for shape in filter(None, map(shape_of, _MIXTURES)):
        mixture = facts_of(shape, quantisation_of(_MIXTURE_QUANTISATION))
        if mixture.model_bytes >= facts.model_bytes * _MUCH_SMALLER:
            file = f"{shape.name.lower()}-{_MIXTURE_QUANTISATION}"
            placed = fit(replace(found.alone.case, target=mixture))
            what = f"a mixture of experts of similar size: {file}"
            yield _other_model(found, mixture, file, placed, what)
            return


def _other_model(
    found: Answer, facts: ModelFacts, file: str, placed: Projection, change: str
) -> PlanOption:
    case = replace(found.alone.case, target=facts)
    target = PlannedModel(facts=facts, path=None, server_name=f"{file}.gguf")
    return _alone(found, case, target, placed, change)


def _alone(
    found: Answer, case: LoadPlan, target: PlannedModel, placed: Projection, change: str
) -> PlanOption:
    """An option without a draft; formulas are as far off as for the target, if that was timed."""
    alone, speed, timed = found.alone, found.question.computer.speed, found.question.plain
    option = without_draft(case, target, speed, placed, change)
    if timed is None:
        return option
    off, tps = timed.estimate / plain(alone.case, alone.found, speed).estimate, option.tps
    tps = replace(tps, estimate=tps.estimate * off, low=tps.low * off, high=tps.high * off)
    return replace(option, tps=tps)


def _warnings(asked: PlanOption, alone: PlanOption) -> Iterator[str]:
    """The warnings that an option does not fit, and about the memory that speculation takes."""
    if not asked.fits:
        yield sentence("plan-no-fit", missing=memory_words.missing(asked))
    if asked.way is not None:
        yield from _displaced(asked, alone)
        yield from _states(asked, alone)
    card_mib = sum(each.free_mib for each in asked.case.devices)
    mixture, stay = asked.case.target.name, asked.found.placement.cpu_experts
    if asked.fits and stay and "a3b" in mixture.lower() and CACHED[0] <= card_mib <= CACHED[1]:
        yield sentence("expert-cache")


# Free memory of cards with 12 to 16 GB, for which a cache of experts was published.
CACHED = (10 * 1024, 16 * 1024)


def _displaced(asked: PlanOption, alone: PlanOption) -> Iterator[str]:
    """The warnings that speculation moves the target's layers or experts off the devices."""
    left, before = asked.found.placement, alone.found.placement
    if left.layers < before.layers:
        drafts = (each.by_kind().items() for each in asked.found.devices)
        yield sentence(
            "moved-layers",
            layers=say.count(before.layers - left.layers, "layer"),
            left=left.layers,
            whole=asked.case.target.placed_layers,
            before=before.layers,
            extra=sum(mib for kinds in drafts for kind, mib in kinds if kind.startswith("draft_")),
        )
    experts = left.cpu_experts - before.cpu_experts
    if experts > 0:
        yield sentence("moved-experts", layers=say.count(experts, "more layer"))


def _states(asked: PlanOption, alone: PlanOption) -> Iterator[str]:
    copies, slots = asked.case.setting.rollback_states, asked.case.setting.slots
    now, before = (
        sum(each.recurrent for each in (*option.found.devices, option.found.host))
        for option in (asked, alone)
    )
    if copies:
        fewer = sentence("one-slot", need=now / slots) if slots > 1 else ""
        each = {"copies": copies, "slots": say.count(slots, "slot")}
        yield sentence("state-copies", now=now, before=before, fewer=fewer, **each)
    elif asked.case.target.recurrent:
        yield sentence("checkpoint")
