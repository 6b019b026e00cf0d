"""Which prompts are asked? Suites are TOML files, found by id or by path, and can be narrowed."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import tomllib
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from harness.errors import BadInputError
from harness.model import Suite, SuitePrompt
from harness.nearest import suggestion
from schemas.submission import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

_SUFFIX = ".toml"


def load(id_or_path: str) -> Suite:
    """The suite with this id (`core`) or in this file. Raises `BadInputError` without one."""
    source = _find(id_or_path)
    try:
        document = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{source.name} is no readable suite: {error}; see harness/suites/README.md"
        raise BadInputError(message) from error
    return _suite(document, source.name)


def known_ids() -> tuple[str, ...]:
    """The ids of the suites that come with the harness."""
    names = (entry.name for entry in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def digest(suite_id: str, version: str, prompts: Sequence[SuitePrompt]) -> str:
    """SHA-256 that says which texts were asked.

    Over the UTF-8 bytes of one JSON value without spaces, keys sorted, letters unescaped:
    `{"id":…,"prompts":[{"id":…,"task":…,"text":…},…],"version":…}`, prompts in the suite's order.
    """
    listed = [{"id": prompt.id, "task": prompt.task, "text": prompt.text} for prompt in prompts]
    value = {"id": suite_id, "version": version, "prompts": listed}
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def select(
    suite: Suite, *, tasks: Sequence[str] = (), prompts: Sequence[str] = (), quick: bool = False
) -> Suite:
    """The part of a suite that was asked for; order, id, version and digest stay.

    `tasks` names tasks. `prompts` holds prompt ids, patterns (`code-*`) or one number: so many
    prompts of each task. `quick` keeps the quick prompts. Raises `BadInputError` when a name is
    unknown or nothing is left.
    """
    kept = [prompt for prompt in suite.prompts if prompt.quick or not quick]
    kept = _of_tasks(kept, suite, tasks) if tasks else kept
    kept = _chosen(kept, suite, prompts) if prompts else kept
    if not kept:
        message = "no prompt is left; relax --tasks, --prompts or --quick"
        raise BadInputError(message)
    return replace(suite, prompts=tuple(kept))


def _shipped() -> Traversable:
    return resources.files("harness").joinpath("suites")


def _find(id_or_path: str) -> Traversable:
    path = Path(id_or_path)
    if path.is_file():
        return path
    if id_or_path in known_ids():
        return _shipped().joinpath(id_or_path + _SUFFIX)
    hint = suggestion(id_or_path, known_ids())
    message = f"no suite {id_or_path!r}, and no such file.{hint}"
    raise BadInputError(message)


def _suite(document: dict[str, object], name: str) -> Suite:
    try:
        entries: list[dict[str, object]] = document["prompts"]  # type: ignore[assignment]
        prompts = tuple(_prompt(entry, name) for entry in entries)
        suite_id, version = str(document["id"]), str(document["version"])
        return Suite(
            id=suite_id,
            version=version,
            sha256=digest(suite_id, version, prompts),
            prompts=_unique(prompts, name),
            max_output_tokens=_tokens(document["max_output_tokens"]),
            quick_max_output_tokens=_tokens(document["quick_max_output_tokens"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        message = f"{name}: {error} is missing or wrong; see harness/suites/README.md"
        raise BadInputError(message) from error


def _tokens(value: object) -> int:
    if not isinstance(value, int) or value < 1:
        message = f"an output length of {value!r}"
        raise ValueError(message)
    return value


def _prompt(entry: dict[str, object], name: str) -> SuitePrompt:
    prompt_id, task = str(entry["id"]), str(entry["task"])
    if task not in get_args(Task):
        hint = suggestion(task, get_args(Task))
        message = f"{name}: prompt {prompt_id!r} has the unknown task {task!r}.{hint}"
        raise BadInputError(message)
    return SuitePrompt(
        id=prompt_id,
        task=task,  # type: ignore[arg-type]  # checked above
        # TOML's closing quotes stand on a line of their own; that line break is not said.
        text=str(entry["text"]).removesuffix("\n"),
        quick=entry.get("quick") is True,
    )


def _unique(prompts: tuple[SuitePrompt, ...], name: str) -> tuple[SuitePrompt, ...]:
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            message = f"{name}: the prompt id {prompt.id!r} stands twice; ids must be unique"
            raise BadInputError(message)
        seen.add(prompt.id)
    return prompts


def _of_tasks(kept: list[SuitePrompt], suite: Suite, tasks: Sequence[str]) -> list[SuitePrompt]:
    known = {prompt.task for prompt in suite.prompts}
    for task in tasks:
        if task not in known:
            message = f"suite {suite.id} has no task {task!r}.{suggestion(task, known)}"
            raise BadInputError(message)
    return [prompt for prompt in kept if prompt.task in tasks]


def _chosen(kept: list[SuitePrompt], suite: Suite, wanted: Sequence[str]) -> list[SuitePrompt]:
    if len(wanted) == 1 and wanted[0].isdigit():
        return _first_of_each_task(kept, int(wanted[0]))
    ids = [prompt.id for prompt in suite.prompts]
    for pattern in wanted:
        if not fnmatch.filter(ids, pattern):
            message = f"suite {suite.id} has no prompt {pattern!r}.{suggestion(pattern, ids)}"
            raise BadInputError(message)
    return [p for p in kept if any(fnmatch.fnmatchcase(p.id, pattern) for pattern in wanted)]


def _first_of_each_task(kept: list[SuitePrompt], count: int) -> list[SuitePrompt]:
    taken: dict[str, int] = {}
    chosen: list[SuitePrompt] = []
    for prompt in kept:
        taken[prompt.task] = taken.get(prompt.task, 0) + 1
        if taken[prompt.task] <= count:
            chosen.append(prompt)
    return chosen
