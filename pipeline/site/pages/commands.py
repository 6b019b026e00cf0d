"""The command line that measures a setting and the one that uses it, safe to paste into a shell.

Files are stand-ins: a result names models, never paths.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.site.rows import Row
from schemas.vocabulary import DEFAULT_RUNNER, FIXED_TASKS, METHODS, RUNNERS, RunnerEntry

LLAMA_CPP, VLLM = "llama.cpp", "vLLM"
UNQUANTISED = re.compile(r" (?:BF16|F16|F32)$")
RUN = "python -m harness run --target "
SERVER = next(each for each in RUNNERS.values() if each.engine_label and each.options)
OTHER_SERVERS = next(each for each in RUNNERS.values() if each.behind_servers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One target with one way of drafting; without `tasks` all of them are meant.

    `conditions` are the options of the settings that are not the usual ones.
    """

    target: str
    draft: str | None
    method: str
    depth: int | None
    engine: str
    concurrency: int = 1
    conditions: str | None = None
    tasks: tuple[str, ...] = ()


def setting_of(cell: Row, *tasks: str) -> Setting:
    """The setting that a cell stands for, on these tasks or on its own."""
    return Setting(
        target=f"{cell.target_label} {cell.quantisation}",
        draft=cell.draft_label,
        method=cell.method,
        depth=cell.depth,
        engine=cell.engine_label,
        concurrency=cell.concurrency,
        conditions=getattr(cell, "measured_with", None),
        tasks=tasks or (() if cell.task == "all" else (cell.task,)),
    )


def printed(pair: Row) -> Setting:
    """The setting behind a published ratio."""
    return Setting(
        target=" ".join(filter(None, (pair.target_label, pair.quantisation))),
        draft=pair.draft_label,
        method=pair.method,
        depth=pair.depth,
        engine=pair.engine_name or "",
    )


def measure(settings: Sequence[Setting]) -> str:
    """The line that measures settings of one target on the reader's machine.

    A method that has no name of its own cannot be asked for: the line goes without it.
    """
    drafts = dict.fromkeys(f" --draft {file_of(each.draft)}" for each in settings if each.draft)
    named = [each for each in settings if METHODS[each.method].runners]
    methods = dict.fromkeys(f" --method {_method(each)}" for each in named)
    tasks = dict.fromkeys(f" --tasks {','.join(each.tasks)}" for each in settings if each.tasks)
    levels = sorted({each.concurrency for each in settings})
    level = "" if levels == [1] else f" --concurrency {','.join(map(str, levels))}"
    options = _options(settings)
    runner = f" {options}" if options else ""
    unusual = dict.fromkeys(f" {each.conditions}" for each in settings if each.conditions)
    words = "".join((*drafts, *methods, runner, level, *unusual, *tasks))
    return f"{RUN}{file_of(settings[0].target)}{words}"


def measure_usual(target: str) -> str:
    """The line that measures a target with the methods that the harness takes by itself."""
    return f"{RUN}{file_of(target)}"


def fill(campaign: Row) -> str | None:
    """The line that measures what is missing of a campaign (a row of the table `wanted`).

    `None` where no runner of llama.cpp drafts by itself like this.
    """
    own = own_runner([campaign.method])
    if own is None or (own.id != DEFAULT_RUNNER and METHODS[campaign.method].draft != "none"):
        return None
    missing = {*(campaign.empty_tasks or ()), *(campaign.thin_tasks or ())}
    setting = Setting(
        target=f"{campaign.target_label} {campaign.quantisation}",
        draft=campaign.draft_label,
        method=campaign.method,
        depth=campaign.depth,
        engine=LLAMA_CPP,
        # Without a list all tasks run, and only then is there a figure over all of them.
        tasks=() if missing >= {*FIXED_TASKS} else tuple(sorted(missing)),
    )
    return measure([setting])


def template(choice: Setting) -> str | None:
    """`measure` for the words TARGET and TASK, which a page script replaces; as `fill` else."""
    return measure([choice]) if DEFAULT_RUNNER in METHODS[choice.method].runners else None


def use(setting: Setting) -> str | None:
    """The line that serves the target like this; `None` for another engine or method."""
    if setting.engine.startswith(VLLM):
        return _served_by_vllm(setting)
    if not setting.engine.startswith(LLAMA_CPP):
        return None
    start = f"llama-server -m {file_of(setting.target)}"
    draft = f" -md {file_of(setting.draft)}" if setting.draft else ""
    words = METHODS[setting.method].llama_cpp
    if words is None:
        return None
    flags = words.sizes.get("n_max")
    depth = f" {flags[0]} {setting.depth}" if setting.depth and flags else ""
    return f"{start}{draft} --spec-type {words.types[0]}{depth}"


def _served_by_vllm(setting: Setting) -> str | None:
    name = METHODS[setting.method].vllm
    if name is None:
        return None
    config = {"method": name, "num_speculative_tokens": setting.depth}
    if setting.draft:
        config["model"] = _served_name(setting.draft)
    given = json.dumps({key: value for key, value in config.items() if value is not None})
    return f"vllm serve {_served_name(setting.target)} --speculative-config '{given}'"


def _served_name(model: str) -> str:
    """A stand-in for a model's name; unquantised weights have no word for it."""
    return _word(UNQUANTISED.sub("", model))


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
    sized = setting.depth is not None and "n_max" in METHODS[setting.method].defaults
    depth = f":n_max={setting.depth}" if sized else ""
    return f"{_word(setting.method)}{depth}"


def file_of(model: str) -> str:
    """A stand-in for the file of a model."""
    return f"{_word(model)}.gguf"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-") or "MODEL"
