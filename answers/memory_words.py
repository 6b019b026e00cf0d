"""Write an answer's sentences about memory: what fits, what is missing, the longest context."""

from answers.answer import Answer
from answers.choices import PlanOption
from schemas.vocabulary import say

_GIB = 1024
_USUAL_CONTEXT = 4096


def fits(found: Answer) -> str:
    """The sentence on the memory that the plan needs, and on the longest context that it allows."""
    asked = found.asked
    case, placement = asked.case, asked.found.placement
    if not asked.fits:
        shorter = "a shorter context, " if case.setting.context > _USUAL_CONTEXT else ""
        return f"Use {shorter}a smaller quantisation or another model."
    if not case.devices or not placement.layers:
        need, free = asked.found.host_needs, case.host.free_mib
        text = f"Fits in main memory: {_gib(need)} of {_gib(free)} GiB"
    else:
        need = sum(each.total() for each in asked.found.devices)
        free = sum(each.free_mib for each in case.devices)
        partly = " partly" if asked.found.extent == "partly" else ""
        several = f" of {len(case.devices)} cards" if len(case.devices) > 1 else ""
        text = f"Fits{partly}: {_gib(need)} of {_gib(free)} GiB{several}"
    return f"{text}; {_context(found)}."


def _context(found: Answer) -> str:
    now, alone = found.context_max, found.context_max_alone
    if now is None:
        return "a longer context does not fit"
    if alone is not None and alone > now:
        return f"the longest context falls from {alone:,} to {say.count(now, 'token')}"
    return f"the longest context is {say.count(now, 'token')}"


def missing(asked: PlanOption) -> str:
    """A clause on the last memory that is too small: GiB free and needed; empty if all suffice."""
    case, found = asked.case, asked.found
    # Without devices, the plan still has one entry for them, which needs no memory.
    needs = [
        *((x.name, x.free_mib, need) for x, need in zip(case.devices, found.devices_need)),  # noqa: B905
        ("main memory", case.host.free_mib, found.host_needs),
    ]
    short = [
        f"{name} has {_gib(free)} GiB free, but {_gib(need)} GiB is needed"
        for name, free, need in needs
        if need > free
    ]
    return f": {short[-1]}" if short else ""


def _gib(mib: float) -> str:
    return f"{mib / _GIB:.1f}"
