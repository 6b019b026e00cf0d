"""Loads prompt suites, which are TOML files, and selects prompts from them."""

import fnmatch
import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import get_args

from harness.campaign.conversation import messages
from harness.campaign.model import PromptSuite, SuitePrompt
from harness.errors import BadInputError, suggestion
from schemas.submission import Task

Table = dict[str, object]

_SUFFIX = ".toml"
_SEE = "see harness/campaign/suites/README.md"
# The format's forms of ids and versions; checked before measuring, not after.
_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_ANYTHING = re.compile(r".*\S.*", re.DOTALL)
# The first token comes out of the prompt; only the ones after it are timed.
_SHORTEST_OUTPUT = 2


def load(id_or_path: str) -> PromptSuite:
    """The suite with this id (`core`) or in this file. Raises `BadInputError` without one."""
    source = _find(id_or_path)
    try:
        document = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{source.name} is not a readable suite: {error}; {_SEE}"
        raise BadInputError(message) from error
    return _suite(document, source.name)


def known_ids() -> tuple[str, ...]:
    """The ids of the suites that come with the harness."""
    names = (entry.name for entry in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def digest(suite_id: str, version: str, prompts: Sequence[SuitePrompt]) -> str:
    """SHA-256 that identifies the texts of a suite.

    Over the UTF-8 bytes of one JSON value without spaces, keys sorted, letters unescaped:
    `{"id":…,"prompts":[{"id":…,"task":…,"text":…},…],"version":…}`, prompts in the suite's order.
    """
    listed = [{"id": prompt.id, "task": prompt.task, "text": prompt.text} for prompt in prompts]
    value = {"id": suite_id, "version": version, "prompts": listed}
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def select(
    suite: PromptSuite,
    *,
    tasks: Sequence[str] = (),
    prompts: Sequence[str] = (),
    quick: bool = False,
) -> PromptSuite:
    """The selected part of a suite; order, id, version and digest stay.

    `tasks` names tasks. `prompts` holds prompt ids, patterns (`code-*`) or the number
    of prompts per task. `quick` keeps the quick prompts. Raises `BadInputError` when a name is
    unknown or nothing is left.
    """
    left = [prompt for prompt in suite.prompts if prompt.quick or not quick]
    left = _of_tasks(left, suite, tasks) if tasks else left
    left = _chosen(left, suite, prompts) if prompts else left
    if not left:
        message = "no prompt is left; relax --tasks, --prompts or --quick"
        raise BadInputError(message)
    return replace(suite, prompts=tuple(left))


def _shipped() -> Traversable:
    return resources.files("harness.campaign").joinpath("suites")


def _find(id_or_path: str) -> Traversable:
    path = Path(id_or_path)
    if path.is_file():
        return path
    if id_or_path in known_ids():
        return _shipped().joinpath(id_or_path + _SUFFIX)
    hint = suggestion(id_or_path, known_ids())
    message = f"no suite {id_or_path!r}, and no such file.{hint}"
    raise BadInputError(message)


def _suite(document: Table, name: str) -> PromptSuite:
    prompts = tuple(
        _prompt(entry, f"{name}: prompt {number}", name)
        for number, entry in enumerate(_entries(document, name), start=1)
    )
    suite_id = _text(document, "id", name, _ID)
    version = _text(document, "version", name, _VERSION)
    return PromptSuite(
        id=suite_id,
        version=version,
        sha256=digest(suite_id, version, prompts),
        prompts=_unique(prompts, name),
        max_output_tokens=_tokens(document, "max_output_tokens", name),
        quick_max_output_tokens=_tokens(document, "quick_max_output_tokens", name),
    )


def _entries(document: Table, name: str) -> list[Table]:
    entries = document.get("prompts")
    tables = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    if not tables or not entries:
        message = f"{name}: prompts must be [[prompts]] tables, at least one; {_SEE}"
        raise BadInputError(message)
    return entries  # type: ignore[return-value]  # checked above


def _text(table: Table, key: str, where: str, form: re.Pattern[str]) -> str:
    value = table.get(key)
    if value is None:
        message = f"{where}: {key!r} is missing; {_SEE}"
        raise BadInputError(message)
    if not isinstance(value, str) or not form.fullmatch(value):
        message = f"{where}: {key!r} has the wrong form: {value!r}; {_SEE}"
        raise BadInputError(message)
    return value


def _tokens(table: Table, key: str, where: str) -> int:
    value = table.get(key)
    if not isinstance(value, int) or value < _SHORTEST_OUTPUT:
        found = f"an output length of {value!r}" if key in table else "missing"
        message = f"{where}: {key!r} is {found}; it takes a whole number from {_SHORTEST_OUTPUT}"
        raise BadInputError(message)
    return value


def _prompt(entry: Table, where: str, name: str) -> SuitePrompt:
    prompt_id, task = _text(entry, "id", where, _ID), _text(entry, "task", where, _ANYTHING)
    if task not in get_args(Task):
        hint = suggestion(task, get_args(Task))
        message = f"{name}: prompt {prompt_id!r} has the unknown task {task!r}.{hint}"
        raise BadInputError(message)
    # TOML's closing quotes are on a line of their own; that line break is not part of the text.
    text = _text(entry, "text", where, _ANYTHING).removesuffix("\n")
    roles = [message["role"] for message in messages(text)]
    if roles != ["user", *["assistant", "user"] * (len(roles) // 2)]:
        message = f"{where}: the user and the assistant must take turns, the user last; {_SEE}"
        raise BadInputError(message)
    return SuitePrompt(
        id=prompt_id,
        task=task,  # type: ignore[arg-type]  # checked above
        text=text,
        quick=entry.get("quick") is True,
    )


def _unique(prompts: tuple[SuitePrompt, ...], name: str) -> tuple[SuitePrompt, ...]:
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            message = f"{name}: the prompt id {prompt.id!r} occurs twice; ids must be unique"
            raise BadInputError(message)
        seen.add(prompt.id)
    return prompts


def _of_tasks(
    left: list[SuitePrompt], suite: PromptSuite, tasks: Sequence[str]
) -> list[SuitePrompt]:
    known = {prompt.task for prompt in suite.prompts}
    for task in tasks:
        if task not in known:
            message = f"suite {suite.id} has no task {task!r}.{suggestion(task, known)}"
            raise BadInputError(message)
    return [prompt for prompt in left if prompt.task in tasks]


def _chosen(
    left: list[SuitePrompt], suite: PromptSuite, patterns: Sequence[str]
) -> list[SuitePrompt]:
    if len(patterns) == 1 and patterns[0].isdigit():
        return _first_of_each_task(left, int(patterns[0]))
    ids = [prompt.id for prompt in suite.prompts]
    for pattern in patterns:
        if not fnmatch.filter(ids, pattern):
            message = f"suite {suite.id} has no prompt {pattern!r}.{suggestion(pattern, ids)}"
            raise BadInputError(message)
    return [p for p in left if any(fnmatch.fnmatchcase(p.id, pattern) for pattern in patterns)]


def _first_of_each_task(left: list[SuitePrompt], count: int) -> list[SuitePrompt]:
    taken: dict[str, int] = {}
    chosen: list[SuitePrompt] = []
    for prompt in left:
        taken[prompt.task] = taken.get(prompt.task, 0) + 1
        if taken[prompt.task] <= count:
            chosen.append(prompt)
    return chosen
