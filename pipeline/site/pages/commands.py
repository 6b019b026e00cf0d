"""Which command measures a setting again, and which uses it? Words that mean nothing to a shell.

Files are stand-ins: a result names models, never paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.site.pages.cells import Cell
from schemas.vocabulary import METHODS, RUNNERS, RunnerEntry

LLAMA_CPP = "llama.cpp"
SERVER = next(each for each in RUNNERS.values() if each.engine_label and each.options)
OTHER_SERVERS = next(each for each in RUNNERS.values() if each.behind_servers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One target with one way of drafting; `task` is `None` for all tasks."""

    target: str
    draft: str | None
    method: str
    depth: int | None
    engine: str
    concurrency: int = 1
    task: str | None = None


def setting_of(cell: Cell) -> Setting:
    """The setting that a cell stands for."""
    return Setting(
        target=f"{cell.target_label} {cell.quantisation}",
        draft=cell.draft_label,
        method=cell.method,
        depth=cell.depth,
        engine=cell.engine_label,
        concurrency=cell.concurrency,
        task=cell.task_name,
    )


def measure(settings: Sequence[Setting]) -> str:
    """The line that measures settings of one target on the reader's machine.

    A method that has no name of its own cannot be asked for: the line goes without it.
    """
    drafts = dict.fromkeys(f" --draft {_file(each.draft)}" for each in settings if each.draft)
    named = [each for each in settings if METHODS[each.method].runners]
    methods = dict.fromkeys(f" --method {_method(each)}" for each in named)
    tasks = dict.fromkeys(f" --tasks {each.task}" for each in settings if each.task)
    levels = sorted({each.concurrency for each in settings})
    crowd = "" if levels == [1] else f" --concurrency {','.join(map(str, levels))}"
    options = _options(settings)
    runner = f" {options}" if options else ""
    words = "".join((*drafts, *methods, runner, crowd, *tasks))
    return f"python -m harness run --target {_file(settings[0].target)}{words}"


def use(setting: Setting) -> str | None:
    """The line that serves the target like this with llama.cpp; `None` if that was not measured."""
    if not setting.engine.startswith(LLAMA_CPP):
        return None
    start = f"llama-server -m {_file(setting.target)}"
    draft = f" -md {_file(setting.draft)}" if setting.draft else ""
    words = METHODS[setting.method].llama_cpp
    if words is None:
        return None
    depth = f" {words.n_max[0]} {setting.depth}" if setting.depth and words.n_max else ""
    return f"{start}{draft} --spec-type {words.types[0]}{depth}"


def own_runner(methods: Iterable[str]) -> RunnerEntry | None:
    """The first runner of llama.cpp itself that has all these methods."""
    able = (
        runner
        for runner in RUNNERS.values()
        if runner.engine_label and all(runner.id in METHODS[name].runners for name in methods)
    )
    return next(able, None)


def _options(settings: Sequence[Setting]) -> str:
    """The options with which the harness reaches the engine that was measured."""
    engine = settings[0].engine
    own = next((each for each in RUNNERS.values() if each.engine_label == engine), None)
    if own is None and engine == LLAMA_CPP:  # an imported figure
        own = own_runner([setting.method for setting in settings]) or SERVER
    return (own or OTHER_SERVERS).options


def _method(setting: Setting) -> str:
    depth = "" if setting.depth is None else f":n_max={setting.depth}"
    return f"{_word(setting.method)}{depth}"


def _file(model: str) -> str:
    return f"{_word(model)}.gguf"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-") or "MODEL"
