"""Choose the quantisation of a model that a question names without one."""

from bisect import bisect_left
from collections.abc import Callable

from msgspec.structs import replace

from planner.catalog import model_of
from planner.engine_table import ENGINES
from planner.machines import Computer
from planner.model import Setting
from planner.placement import LoadPlan, Projection, placed_whole
from planner.presets import preset_for
from planner.ways import PlannedModel
from schemas.rig import LLAMA_CPP

# The usual quantisations of GGUF files, the largest first, and the only one of some models.
QUANTISATIONS = ENGINES[LLAMA_CPP].quantisations
_ONLY = "MXFP4"
_WORTH_TRYING = 1 / 3  # the chance that a quantisation fits whole


def fitted(target: PlannedModel, computer: Computer, engine: str) -> tuple[PlannedModel, str]:
    """The model in the largest usual quantisation that fits whole, and a note of this assumption.

    A file on this disk and a model of only one quantisation are unchanged, without a note; so is
    any model for llama.cpp on a machine without a card.
    """
    preset, usual = target.preset, ENGINES[engine].quantisations
    if preset is None or preset.quantisation not in QUANTISATIONS or target.path:
        return target, ""
    if engine == LLAMA_CPP and not computer.devices:
        return target, ""
    largest = largest_quantisation(computer.load(target.facts, Setting()), usual)
    chosen = largest or (preset.quantisation if preset.quantisation in usual else usual[-1])
    found = preset_for(preset.key, chosen)
    why = "the largest usual one that fits whole" if largest else "no usual one fits whole"
    note = f"the quantisation is not stated, so {chosen} is assumed: {why}"
    return (found and model_of(found)) or target, note


def largest_quantisation(
    load: LoadPlan,
    usual: tuple[str, ...] = QUANTISATIONS,
    *,
    certain: bool = False,
    place: Callable[[LoadPlan], Projection] = placed_whole,
) -> str | None:
    """The largest usual quantisation in which this plan's target fits as placed, or `None`.

    Without `certain`, it may fit only if other programs are closed.
    """
    listed = preset_for(load.target.name)
    own = listed is not None and listed.quantisation == _ONLY
    names = (_ONLY,) if own else usual

    def fits(name: str) -> bool:
        preset = preset_for(load.target.name, name)
        model = model_of(preset) if preset else None
        found = place(replace(load, target=model.facts)) if model else None
        return found is not None and (found.sure if certain else found.chance >= _WORTH_TRYING)

    if not fits(names[-1]):
        return None
    return names[bisect_left(names, x=True, key=fits)]  # every smaller one fits, too
