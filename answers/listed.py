"""Questions about models and machines by name alone, as pages and comments ask them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from answers import catalog, names
from answers.answer import Question, figures_of
from answers.choices import PlannedModel
from answers.evidence import by_model
from answers.learned import learned
from answers.machines import Computer
from answers.model import Setting
from answers.presets import preset_named, presets
from answers.rates import with_rates
from answers.shapes import facts_of, quantisation_of, shape_of, shapes


def question_by_name(name: str, computer: Computer, task: str | None = None) -> Question | None:
    """The question of somebody who types a model's name; `None` for a model that has no shape."""
    preset = preset_named(name)
    target = model_named(name)
    if target is None:
        return None
    asked = Question(
        name=name,
        model=names.model_key(preset.model if preset else name),
        target=target,
        computer=with_rates(computer, learned().rates, target.facts),
        setting=Setting(),
        ways=(),
        task=task,
        quantisation=preset.quantisation if preset else None,
    )
    ways = catalog.ways_of(name, target, figures_of(asked), model_named)
    notes = (*target.notes, *asked.computer.notes)
    return replace(asked, ways=ways, notes=tuple(dict.fromkeys(notes)))


@cache
def model_named(name: str) -> PlannedModel | None:
    """A model by its name, from the tables; `None` where they do not have it."""
    preset = preset_named(name)
    if preset is not None:
        return catalog.model_by_name(preset)
    shape = shape_of(name)
    bits = quantisation_of(name) or quantisation_of("Q4_K_M")
    if shape is None:
        return None
    facts = facts_of(shape, bits, with_head=bool(shape.head_layers))
    return PlannedModel(facts=facts, path=None, server_name=f"{name}.gguf")


@cache
def listed_models() -> tuple[tuple[str, str], ...]:
    """Every model that has a shape or figures: its key and the name that `plan` takes."""
    return tuple(sorted(dict(_models()).items()))


def _models() -> Iterator[tuple[str, str]]:
    """Keys with names; the later one of a key counts."""
    for model in by_model():
        if shape_of(model) is not None:
            yield model, model
    for shape in shapes():
        yield names.model_key(shape.name), shape.name
    for preset in reversed(presets().values()):
        if not preset.head and not preset.pruned_layers:
            yield names.model_key(preset.model), preset.name
