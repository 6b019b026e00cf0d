"""Loads prompt suites, which are TOML files, and selects prompts from them."""

import fnmatch
import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from harness.campaign.answer_form import require_schema
from harness.campaign.conversation import messages
from harness.campaign.model import PromptSuite, SuitePrompt
from harness.errors import BadInputError, suggestion
from harness.options import count_in

_SHIPPED = resources.files("harness.campaign").joinpath("suites")
_SUFFIX = ".toml"
_SEE = "see harness/campaign/suites/README.md"


def load(id_or_path: str) -> PromptSuite:
    """Load a suite by its id (`core`), or from a file.

    Raises `BadInputError` if there is no such suite.
    """
    source = _find(id_or_path)
    try:
        suite = msgspec.convert(tomllib.loads(source.read_text(encoding="utf-8")), PromptSuite)
        prompts = tuple(map(_read, suite.prompts))
        _require_different(prompts)
    except (OSError, ValueError) as error:
        raise BadInputError(f"{source.name} is not a readable suite: {error}; {_SEE}") from error
    return replace(suite, prompts=prompts, sha256=digest(suite.id, suite.version, prompts))


def known_ids() -> tuple[str, ...]:
    names = (entry.name for entry in _SHIPPED.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def digest(suite_id: str, version: str, prompts: Sequence[SuitePrompt]) -> str:
    """Return the SHA-256 that identifies the texts of a suite.

    The digest covers the UTF-8 bytes of one JSON value without spaces, keys sorted, letters
    unescaped: `{"id":…,"prompts":[{"id":…,"task":…,"text":…},…],"version":…}`, prompts in the
    suite's order.
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
    """Select prompts from a suite; its order, id, version and digest stay unchanged.

    `tasks` names tasks. `prompts` contains prompt ids, patterns (`code-*`) or the number of prompts
    per task. `quick` keeps the quick prompts. Tasks on request are left out unless a task or a
    pattern names them. Raises `BadInputError` if a name is unknown or no prompt is left.
    """
    number = count_in(prompts[0]) if len(prompts) == 1 else None
    left = [prompt for prompt in suite.prompts if prompt.quick or not quick]
    if tasks:
        left = _of_tasks(left, suite, tasks)
    elif number is not None or not prompts:
        left = [prompt for prompt in left if prompt.task not in suite.on_request]
    if number is not None:
        most = max((sum(o.task == each.task for o in left) for each in left), default=0)
        if number > most:
            where = "--quick" if quick else f"suite {suite.id}"
            raise BadInputError(
                f"--prompts {prompts[0]}: {where} has {most} prompts per task; use --prompts {most}"
            )
        left = list(first_of_each_task(left, number))
    elif prompts:
        left = _chosen(left, suite, prompts)
    if not left:
        raise BadInputError(
            "--tasks, --prompts and --quick leave no prompt to run; relax one of these options"
        )
    return replace(suite, prompts=tuple(left))


def first_of_each_task(prompts: Sequence[SuitePrompt], count: int) -> tuple[SuitePrompt, ...]:
    """Return the first `count` prompts of each task, in the suite's order."""
    return tuple(
        prompt
        for place, prompt in enumerate(prompts)
        if sum(before.task == prompt.task for before in prompts[:place]) < count
    )


def _find(id_or_path: str) -> Traversable:
    path = Path(id_or_path)
    if path.is_file():
        return path
    if path.is_dir():
        raise BadInputError(f"{id_or_path} is a folder; name a suite's TOML file")
    if id_or_path in known_ids():
        return _SHIPPED.joinpath(id_or_path + _SUFFIX)
    hint = suggestion(id_or_path, known_ids())
    raise BadInputError(f"there is neither a suite nor a file {id_or_path!r}.{hint}")


def _read(prompt: SuitePrompt) -> SuitePrompt:
    """Append a prompt's schema to its text. Raises `ValueError` unless its turns alternate."""
    # TOML's closing quotes are on a separate line; the line break before them is not prompt text.
    parts = (prompt.text, prompt.schema)
    text = "\n\n".join(part.removesuffix("\n") for part in parts if part is not None)
    roles = [message["role"] for message in messages(text)]
    if roles != ["user", *["assistant", "user"] * (len(roles) // 2)]:
        raise ValueError(
            f"{prompt.id}: user and assistant turns must alternate, and the last turn must be "
            "the user's"
        )
    require_schema(prompt)
    return replace(prompt, text=text)


def _require_different(prompts: Sequence[SuitePrompt]) -> None:
    (prompt_id, times), *_ = Counter(prompt.id for prompt in prompts).most_common(1)
    if times > 1:
        raise ValueError(f"the prompt id {prompt_id!r} occurs twice; ids must be unique")


def _of_tasks(
    left: list[SuitePrompt], suite: PromptSuite, tasks: Sequence[str]
) -> list[SuitePrompt]:
    known = {prompt.task for prompt in suite.prompts}
    for task in tasks:
        if task not in known:
            raise BadInputError(f"suite {suite.id} has no task {task!r}.{suggestion(task, known)}")
    return [prompt for prompt in left if prompt.task in tasks]


def _chosen(
    left: list[SuitePrompt], suite: PromptSuite, patterns: Sequence[str]
) -> list[SuitePrompt]:
    ids = [prompt.id for prompt in suite.prompts]
    for pattern in patterns:
        if not fnmatch.filter(ids, pattern):
            hint = (
                suggestion(pattern, ids)
                or " Give prompt ids, patterns such as code-*, or a single number."
            )
            raise BadInputError(f"suite {suite.id} has no prompt {pattern!r}.{hint}")
    return [p for p in left if any(fnmatch.fnmatchcase(p.id, pattern) for pattern in patterns)]
