"""Write the warnings of an answer: what does not fit, and the memory that speculation takes."""

from collections.abc import Iterator

from answers import memory_words
from answers.answer import Answer, notes_of
from answers.choices import PlanOption
from answers.sentences import sentence
from schemas.vocabulary import say


def warnings_of(found: Answer) -> tuple[str, ...]:
    """The warnings about the recommended option, and the assumptions behind the answer."""
    return (*_warnings(found.asked, found.alone), *notes_of(found))


def _warnings(asked: PlanOption, alone: PlanOption) -> Iterator[str]:
    if not asked.fits:
        yield sentence("plan-no-fit", missing=memory_words.missing(asked))
    if asked.way is not None:
        yield from _displaced(asked, alone)
        yield from _states(asked, alone)


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
