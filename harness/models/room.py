"""Check whether the models of a run fit this machine."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from harness import files
from harness.errors import MachineError
from harness.machine.computer import computer_of
from harness.models.compatibility import SIZE_DIFFERENCE, refusal
from planner.catalog import preset_facts
from planner.model import ModelFacts, Setting
from planner.names_table import listed_slug
from planner.placement import fit
from planner.presets import preset_named
from planner.shapes import shape_of
from planner.sized_shapes import ESTIMATED

# Everything in a model's name except the maker; TinyLlama has the vocabulary of Llama 2.
_MAKER = re.compile(r"^tiny|[^a-z].*")


def require_room(names: Sequence[str], context: int) -> None:
    """Raise `HarnessError` if a target and its drafts cannot run here.

    Nothing is checked if the target is a file or missing from the tables in `planner/`; drafts of
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
    """Return a model's facts from the tables in `planner/`; `None` for a file or unlisted model."""
    if files.expanded(name).is_file():
        return None
    preset = preset_named(name)
    return preset_facts(preset) if preset else None
