"""Check whether the models of a run fit this machine, and how many layers fit on its GPUs."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from answers.catalog import preset_facts
from answers.model import ModelFacts, Setting
from answers.names_table import listed_slug
from answers.placement import fit
from answers.presets import preset_named
from answers.shapes import shape_of
from answers.sized_shapes import ESTIMATED
from harness import files
from harness.errors import MachineError
from harness.machine.computer import computer_of
from harness.models.compatibility import SIZE_DIFFERENCE, refusal
from harness.models.gguf_shape import facts_of_file

# Everything in a model's name except the maker; TinyLlama has the vocabulary of Llama 2.
_MAKER = re.compile(r"^tiny|[^a-z].*")


def require_room(names: Sequence[str], context: int) -> None:
    """Raise `HarnessError` if a target and its drafts cannot run here.

    Nothing is checked if the target is a file or missing from the tables in `answers/`; drafts of
    that kind are ignored. All other models must fit into free memory, if necessary entirely into
    main memory.
    """
    known = {name: facts for name in names if (facts := named_facts(name)) is not None}
    target = known.get(names[0])
    if target is None:
        return
    drafts = {name: facts for name, facts in known.items() if name in names[1:]}
    for name, facts in drafts.items():
        if reason := other_vocabulary(target, facts):
            raise refusal(names[0], name, reason)
    largest = max(drafts.values(), key=lambda facts: facts.model_bytes, default=None)
    case = computer_of().load(target, Setting(context=context), largest)
    on_host = fit(replace(case, devices=()))
    if fit(case).fits or on_host.fits:
        return
    own = 0.0 if case.unified else sum(memory.free_mib for memory in case.devices)
    free_gib = (case.host.free_mib + own) / 1024
    raise MachineError(
        f"{' and '.join(names)} with a context of {context:,} tokens: "
        f"{on_host.needs[-1] / 1024:.1f} GiB are needed, but only {free_gib:.1f} GiB are free "
        "here, so nothing was fetched; `python -m harness models` lists what fits"
    )


def other_vocabulary(target: ModelFacts, draft: ModelFacts) -> str | None:
    """Return why a draft's vocabulary differs, judging by size and maker; `None` if it does not.

    Models whose shape was estimated from their size are skipped: their vocabulary is a guess.
    """
    if ESTIMATED in (target.architecture, draft.architecture):
        return None
    slugs = (listed_slug(each.name) for each in (target, draft))
    makers = {_MAKER.sub("", shape.name) for slug in slugs if (shape := shape_of(slug))}
    if abs(target.vocabulary - draft.vocabulary) <= SIZE_DIFFERENCE and len(makers) < 2:  # noqa: PLR2004 - a pair
        return None
    sizes = f"{target.vocabulary:,} and {draft.vocabulary:,}"
    return f"their vocabularies of {sizes} tokens differ"


def named_facts(name: str) -> ModelFacts | None:
    """Return a model's facts from the tables in `answers/`; `None` for a file or unlisted model."""
    if files.expanded(name).is_file():
        return None
    preset = preset_named(name)
    return preset_facts(preset) if preset else None


def automatic_layers(target: Path, draft: Path | None, context: int) -> tuple[int, int] | None:
    """Return how many target and draft layers fit on the GPUs together; `None` without a GPU.

    Layers are counted as in llama.cpp.

    Raises `BadInputError` for a file whose shape cannot be read.
    """
    computer = computer_of()
    if not computer.devices:
        return None
    facts = facts_of_file(draft) if draft is not None else None
    case = computer.load(facts_of_file(target), Setting(context=context), facts)
    found = fit(case, certain=True)
    if case.draft is None or found.sure_on_devices:
        return found.placement.layers, case.draft_layers
    on_host = replace(case, draft=replace(case.draft, on_host=True))  # not even the draft fits
    return fit(on_host, certain=True).placement.layers, 0
