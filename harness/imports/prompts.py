"""The prompts of an imported result, with tasks and lengths; a part with too many is split."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.errors import BadInputError, suggestion
from harness.imports.foreign_names import id_of
from harness.imports.needed_facts import TASK, agreed
from harness.imports.records import Part
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

    The suite of a serving benchmark is named after the data set that the benchmark sent.
    """
    answered = {trial.prompt for trial in done}
    categories = {record.prompt: record.category for record in reversed(part.records)}
    lengths: dict[str, list[int | None]] = {}
    for record in part.records:
        lengths.setdefault(record.prompt, []).append(record.prompt_tokens or None)
    return Suite(
        id=id_of(f"{part.suite}-{data_set}") if data_set else part.suite,
        version="0.0.0",  # unknown
        prompts=tuple(
            Prompt(
                id=ids[name],
                task=_task(name, categories[name], part.tasks, stated),
                tokens=agreed(counts),
            )
            for name, counts in lengths.items()
            if ids[name] in answered
        ),
    )


def _task(
    prompt: str, category: str | None, table: Mapping[str, str], stated: Mapping[str, str]
) -> Task:
    """Return a prompt's task: from `stated`, else `table`, else its name if a task, else `other`.

    Each step tries the prompt's name first, then its category.
    """
    names = [name for name in (prompt, category) if name is not None]
    words = [
        *(stated.get(f"{TASK}{name}") for name in names),
        *(table.get(name) for name in names),
        *(name for name in names if name in _TASKS),
    ]
    return next((_TASKS[word] for word in words if word is not None), "other")


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
    for _, prompts in sorted(by_category.items()):
        for start in range(0, len(prompts), _MAX_PROMPTS):
            some = prompts[start : start + _MAX_PROMPTS]
            if groups[-1] and len(groups[-1]) + len(some) > _MAX_PROMPTS:
                groups.append(set())
            groups[-1].update(some)
    for group in groups:
        yield replace(part, records=tuple(r for r in part.records if r.prompt in group))
