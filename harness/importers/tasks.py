"""The task of each imported prompt, by its name and its category."""

from collections.abc import Iterable, Mapping

from harness.errors import BadInputError, suggestion
from schemas.submission import Task
from schemas.vocabulary import TASKS

_TASKS: dict[str, Task] = {entry.id: entry.id for entry in TASKS.values()}


def task_of(
    prompt: str, category: str | None, table: Mapping[str, str], stated: Mapping[str, str]
) -> Task:
    """The task stated for the prompt or its category, else the tool's by `table`, else `other`."""
    names = [name for name in (prompt, category) if name is not None]
    for known in (stated, table, _TASKS):
        for name in names:
            if name in known:
                return _TASKS[known[name]]
    return "other"


def check_tasks(stated: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise `BadInputError` for an unknown task, or one stated for a name that no file has."""
    there = set(names)
    for name, task in stated.items():
        if task not in _TASKS:
            message = f"--map task.{name}={task}: no such task.{suggestion(task, _TASKS)}"
            raise BadInputError(message)
        if name not in there:
            message = f"--map task.{name}: neither category nor prompt.{suggestion(name, there)}"
            raise BadInputError(message)
