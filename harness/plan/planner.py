"""Answer a planning question, if possible with the engine's buffer sizes instead of formulas."""

from pathlib import Path

from msgspec.structs import replace

from answers.answer import Answer, Question, answer, with_details
from answers.commands import load_words, method_of
from answers.engine_commands import drafting
from answers.model import LayerPlacement
from answers.placement import largest_context, merge_placements, placed
from harness.plan.server_fit import AllocatedSizes, allocated_sizes


def plan(question: Question, server: Path | None = None) -> Answer:
    """Answer a question about a model, using the sizes that a local llama-server would allocate."""
    found = answer(question, details=False)
    sizes = _allocated(found, server)
    if isinstance(sizes, str):
        note = (
            f"the engine could not simulate the allocation ({sizes}), so these sizes are "
            "computed from formulas"
        )
        question = replace(question, notes=(*question.notes, note))
        return with_details(replace(found, question=question))
    return with_details(_exact(found, sizes) if sizes else found)


def _exact(found: Answer, sizes: tuple[AllocatedSizes, ...]) -> Answer:
    case, placement = found.asked.case, found.asked.found.placement
    models = placed(case, placement)
    for (devices, host), each in zip(models, sizes, strict=True):
        each.replace_in(devices, host)
    exact = merge_placements(case, placement, models, exact=True)
    return replace(
        found,
        asked=replace(found.asked, found=exact),
        context_max=largest_context(case, placement),
        exact=True,
    )


def _allocated(found: Answer, server: Path | None) -> tuple[AllocatedSizes, ...] | str | None:
    """Return the sizes that the server would allocate, or the reason why it reports none.

    Returns `None` without a server, or if a model's header is not on this disk.
    """
    asked = found.asked
    sources = [asked.target, *([asked.draft] if asked.draft else [])]
    paths = [source.path for source in sources if source.path is not None]
    if server is None or len(paths) < len(sources):
        return None
    case = asked.case
    words = load_words(case.setting, asked.found.placement, fit="on")
    if case.uses_head:
        words += drafting(method_of(asked.speculation)) or ()
    alone = LayerPlacement(layers=case.draft_layers)
    draft_words = load_words(case.draft_setting, alone, fit="on")
    return allocated_sizes(server, list(zip(paths, (words, draft_words), strict=False)))
