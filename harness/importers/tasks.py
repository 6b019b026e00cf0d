"""Which of our tasks is a category of another suite? What is in no table is `other`."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from harness.errors import BadInputError
from harness.nearest import suggestion
from schemas.submission import Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_OWN: dict[str, Task] = {task: task for task in get_args(Task)}

# nvidia/SPEED-Bench, qualitative split.
SPEED_BENCH: dict[str, str] = {
    "coding": "code",
    "writing": "creative",
    "roleplay": "creative",
}
# The names of the nine prompts in the script of llama.cpp's thread 22673.
MTP_BENCH: dict[str, str] = {
    "code_python": "code",
    "code_cpp": "code",
    "long_code_review": "code",
    "explain_concept": "chat",
    "qa_factual": "chat",
    "summarize": "summarization",
    "translation": "translation",
    "creative_short": "creative",
    "stepwise_math": "math",
}
# hemingkx/Spec-Bench: six subtasks, the first of them split into the categories of MT-Bench.
SPEC_BENCH: dict[str, str] = {
    "coding": "code",
    "writing": "creative",
    "roleplay": "creative",
    "math_reasoning": "math",
}


def task_of(
    prompt: str, category: str | None, table: Mapping[str, str], told: Mapping[str, str]
) -> Task:
    """The task of a prompt: as told for it or its category, else by table, else `other`."""
    names = [name for name in (prompt, category) if name is not None]
    for known in (told, table, _OWN):
        for name in names:
            if name in known:
                return _OWN[known[name]]
    return "other"


def check(told: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise `BadInputError` for a task that is none, or one told for nothing in the files."""
    there = set(names)
    for name, task in told.items():
        if task not in _OWN:
            message = f"--map task.{name}={task}: no such task.{suggestion(task, _OWN)}"
            raise BadInputError(message)
        if name not in there:
            message = f"--map task.{name}: neither category nor prompt.{suggestion(name, there)}"
            raise BadInputError(message)
