"""Which command measures a setting again, and which uses it? Words that mean nothing to a shell.

Files are stand-ins: a result names models, never paths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.site.pages.cells import Cell

# What llama.cpp's server calls a method that drafts with weights, and one that drafts from text.
WITH_WEIGHTS = {
    "draft-model": "draft-simple",
    "eagle3": "draft-eagle3",
    "dflash": "draft-dflash",
    "dspark": "draft-dspark",
    "mtp": "draft-mtp",
}
FROM_TEXT = {
    "ngram-simple": "--spec-ngram-simple-size-m",
    "ngram-map-k": "--spec-ngram-map-k-size-m",
    "ngram-map-k4v": "--spec-ngram-map-k4v-size-m",
    "ngram-mod": "--spec-ngram-mod-n-max",
}

IN_PROCESS = ("draft-model", "prompt-lookup")
LLAMA_SERVER = " --runner llama-server"
SERVERS = " --runner openai --base-url URL --spec-base-url URL"


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
    named = [each for each in settings if each.method != "other"]
    methods = dict.fromkeys(f" --method {_method(each)}" for each in named)
    tasks = dict.fromkeys(f" --tasks {each.task}" for each in settings if each.task)
    levels = sorted({each.concurrency for each in settings})
    crowd = "" if levels == [1] else f" --concurrency {','.join(map(str, levels))}"
    runner = _runner(settings)
    words = "".join((*drafts, *methods, runner, crowd, *tasks))
    return f"python -m harness run --target {_file(settings[0].target)}{words}"


def use(setting: Setting) -> str | None:
    """The line that serves the target like this with llama.cpp; `None` if that was not measured."""
    if not setting.engine.startswith("llama.cpp"):
        return None
    start = f"llama-server -m {_file(setting.target)}"
    draft = f" -md {_file(setting.draft)}" if setting.draft else ""
    if kind := WITH_WEIGHTS.get(setting.method):
        depth = f" --spec-draft-n-max {setting.depth}" if setting.depth else ""
        return f"{start}{draft} --spec-type {kind}{depth}"
    if option := FROM_TEXT.get(setting.method):
        depth = f" {option} {setting.depth}" if setting.depth else ""
        return f"{start} --spec-type {setting.method}{depth}"
    return None


def _runner(settings: Sequence[Setting]) -> str:
    """How the harness reaches the engine that was measured."""
    engine = settings[0].engine
    if engine == "llama.cpp in-process":
        return ""
    if engine == "llama.cpp":  # imported: whichever runner has the methods
        return "" if all(each.method in IN_PROCESS for each in settings) else LLAMA_SERVER
    return LLAMA_SERVER if engine == "llama.cpp server" else SERVERS


def _method(setting: Setting) -> str:
    depth = "" if setting.depth is None else f":n_max={setting.depth}"
    return f"{_word(setting.method)}{depth}"


def _file(model: str) -> str:
    return f"{_word(model)}.gguf"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-") or "MODEL"
