"""Questions about models and machines by name alone, as pages and comments ask them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from answers import catalog
from answers.answer import Question, figures_of
from answers.evidence import Report, by_model
from answers.learned import learned
from answers.machines import Computer
from answers.model import Setting
from answers.model_names import model_key
from answers.presets import preset_named, presets
from answers.rates import Rate, with_rates
from answers.shapes import shape_of, shapes


def question_by_name(
    name: str,
    computer: Computer,
    *,
    task: str | None = None,
    reports: Mapping[str, Sequence[Report]] | None = None,
    rates: Iterable[Rate] | None = None,
) -> Question | None:
    """The question of somebody who types a model's name; `None` for a model that has no shape.

    Newer `reports` by model and `rates` take the place of those that ship with the program.
    """
    preset = preset_named(name)
    target = catalog.model_named(name)
    if target is None:
        return None
    key = model_key(name)
    known = by_model() if reports is None else reports
    asked = Question(
        name=name,
        model=key,
        reports=tuple(known.get(key, ())),
        target=target,
        computer=with_rates(computer, learned().rates if rates is None else rates, target.facts),
        setting=Setting(),
        task=task,
        quantisation=preset.quantisation if preset else None,
    )
    ways = catalog.ways_of(name, target, figures_of(asked), catalog.model_named)
    notes = (*target.notes, *asked.computer.notes)
    return replace(asked, ways=ways, notes=tuple(dict.fromkeys(notes)))


def listed_models(reported: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Every model with a shape, with those `reported`: its key and the name that `plan` takes."""
    return tuple(sorted(dict(_models(reported)).items()))


def _models(reported: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Keys with names; the later one of a key counts."""
    for model in reported:
        if shape_of(model) is not None:
            yield model, model
    for shape in shapes():
        yield model_key(shape.name), shape.name
    for preset in reversed(presets().values()):
        if not preset.head and not preset.pruned_layers:
            yield model_key(preset.model), preset.name
