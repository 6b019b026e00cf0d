"""The prompts of an imported result, with tasks and lengths; a part with too many is split."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.errors import BadInputError, suggestion
from harness.imports.foreign_names import id_of
from harness.imports.needed_facts import TASK, agreed
from harness.imports.records import Part, Record
from schemas.submission import Prompt, Suite, Task, Trial
from schemas.vocabulary import TASKS

_MAX_PROMPTS = 512
_TASKS: dict[str, Task] = {entry.id: entry.id for entry in TASKS.values()}


def suite(
    part: Part,
    stated: Mapping[str, str],
    ids: Mapping[str, str],
    done: Sequence[Trial],
    *,
    data_set: str | None,
) -> Suite:
    """Return the suite of the prompts that have trials, in the order of the files.

    A prompt's task is stated, else it is the name of the prompt or of its category, else `other`. A
    benchmark's suite is named after the data set that it sent.
    """
    records: dict[str, list[Record]] = {}
    for record in part.records:
        records.setdefault(record.prompt, []).append(record)
    table = {f"{TASK}{name}": task for name, task in _TASKS.items()}
    answered, found = {trial.prompt for trial in done}, []
    for name, own in records.items():
        keys = [f"{TASK}{each}" for each in (name, own[0].category) if each is not None]
        words = [given[key] for given in (stated, table) for key in keys if key in given]
        tokens = agreed(each.prompt_tokens or None for each in own)
        if ids[name] in answered:
            found.append(Prompt(id=ids[name], task=_TASKS[(*words, "other")[0]], tokens=tokens))
    return Suite(
        id=id_of(f"{part.suite}-{data_set}") if data_set else part.suite,
        version="0.0.0",  # unknown
        prompts=tuple(found),
    )


def check_tasks(stated: Mapping[str, str], parts: Iterable[Part]) -> None:
    """Raise `BadInputError` for an unknown task, or a name that matches no prompt or category."""
    records = [record for part in parts for record in part.records]
    there = {name for each in records for name in (each.prompt, each.category) if name}
    for key, task in stated.items():
        name = key.removeprefix(TASK)
        if name == key:
            continue
        if task not in _TASKS:
            raise BadInputError(f"--map {key}={task}: no such task.{suggestion(task, _TASKS)}")
        if name not in there:
            raise BadInputError(
                f"--map {key}: the files have no category or prompt with this "
                f"name.{suggestion(name, there)}"
            )


def pieces(part: Part) -> Iterator[Part]:
    """Split a part that has more prompts than one result may have, category by category."""
    by_category: dict[str, list[str]] = {}
    for prompt, category in {r.prompt: r.category or "" for r in part.records}.items():
        by_category.setdefault(category, []).append(prompt)
    groups: list[set[str]] = [set()]
    for _, own in sorted(by_category.items()):
        for start in range(0, len(own), _MAX_PROMPTS):
            some = own[start : start + _MAX_PROMPTS]
            if groups[-1] and len(groups[-1]) + len(some) > _MAX_PROMPTS:
                groups.append(set())
            groups[-1].update(some)
    for group in groups:
        yield replace(part, records=tuple(r for r in part.records if r.prompt in group))
