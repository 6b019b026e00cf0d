"""Write an answer's sentences about memory: what fits, what is missing, the longest context."""

from collections.abc import Iterator

from planner.answer import Answer
from planner.choices import PlanOption
from planner.engine_table import ENGINES
from planner.model import MIB
from planner.placement import fit
from planner.sentences import sentence
from planner.usual_weights import largest_quantisation
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import say

_GIB = 1024
_USUAL_CONTEXT, _USEFUL_CONTEXT = 4096, 2048


def fits(found: Answer) -> str:
    """The sentence on the memory that the plan needs, and on the longest context that it allows."""
    asked = found.asked
    case, placement = asked.case, asked.found.placement
    if not asked.fits:
        shorter = "a shorter context, " if case.setting.context > _USUAL_CONTEXT else ""
        return f"Use {shorter}{_smaller(found)}or another model."
    fits = "Fits" if asked.found.sure else "Barely fits"
    if not case.devices or not placement.layers:
        need, free = asked.found.needs[-1], case.host.free_mib
        text = f"{fits} in main memory: {_gib(need)} of {_gib(free)} GiB"
    else:
        need = sum(each.total() for each in asked.found.devices)
        free = sum(each.free_mib for each in case.devices)
        partly = "" if asked.found.whole else " partly"
        several = f" of {len(case.devices)} cards" if len(case.devices) > 1 else ""
        text = f"{fits}{partly}: {_gib(need)} of {_gib(free)} GiB{several}"
    if asked.found.sure:
        whole = "" if asked.found.whole else _whole(found)
        return f"{text}; {_context(found)}{whole}."
    return f"{text}, so close the browser and other programs{_for_sure(found)}."


def expert_cache(option: PlanOption) -> Iterator[str]:
    """The setting of newer builds that caches experts on the card, and what it gave to somebody."""
    layers, left = option.case.target.all_layers, option.found.placement.cpu_experts
    if left and option.target.engine == LLAMA_CPP:
        size = sum(layer.expert_bytes for layer in layers[left:]) / MIB
        yield sentence("expert-cache", layers=len(layers), mib=int(size))


def _smaller(found: Answer) -> str:
    """The largest quantisation that is certain to fit, at least partly on the devices."""
    usual = ENGINES[found.question.engine].quantisations
    name = largest_quantisation(found.alone.case, usual, certain=True, place=fit)
    return f"a smaller quantisation, such as {name}, " if name else "a smaller quantisation "


def _whole(found: Answer) -> str:
    """A clause on the largest quantisation that fits whole; empty if none does."""
    usual = ENGINES[found.question.engine].quantisations
    name = largest_quantisation(found.alone.case, usual)
    return f"; {name} fits on the card" if name else ""


def _for_sure(found: Answer) -> str:
    """A clause on the setting that is certain to fit; empty if no listed setting is."""
    context = found.context_max or 0
    if context >= _USEFUL_CONTEXT:
        return f"; up to {say.count(context, 'token')} of context are certain to fit"
    usual = ENGINES[found.question.engine].quantisations
    smaller = largest_quantisation(found.alone.case, usual, certain=True)
    return f"; {smaller} is certain to fit" if smaller else ""


def _context(found: Answer) -> str:
    longest = found.context_max
    if longest is None:
        return "a longer context does not fit"
    return f"the longest context is {say.count(longest, 'token')}"


def missing(asked: PlanOption) -> str:
    """A clause on the last memory that is too small: GiB free and needed; empty if all suffice."""
    case, found = asked.case, asked.found
    cards = ["the card"] if len(case.devices) == 1 else ["a card"] * len(case.devices)
    short = [
        f"{name} has {_gib(free)} GiB free, but {_gib(least)} GiB is needed"
        for name, free, least in zip((*cards, "main memory"), found.free, found.least, strict=True)
        if least > free
    ]
    return f": {short[-1]}" if short else ""


def _gib(mib: float) -> str:
    return f"{mib / _GIB:.1f}"
