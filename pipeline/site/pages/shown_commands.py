"""Write the command lines that measure or use a setting, safe to paste into a shell."""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.site.rows import Row
from planner.engine_commands import ServeLine, default_method, serve_nearest
from planner.engine_table import ENGINES
from schemas.method import Method
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS, RUNNERS, RunnerEntry

UNQUANTISED = re.compile(r" (?:BF16|F16|F32)$")
PROGRAM = "python -m harness"
SERVER = next(each for each in RUNNERS.values() if each.engine_label and each.options)
OTHER_SERVERS = next(each for each in RUNNERS.values() if each.behind_servers)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSetting:
    """One target with one method of drafting, named as in results; no `tasks` means all tasks."""

    target: str
    draft: str | None
    method: str
    depth: int | None
    engine: str
    concurrency: int = 1
    conditions: Sequence[str] = ()
    tasks: tuple[str, ...] = ()


def setting_of(row: Row, *tasks: str) -> NamedSetting:
    """The setting that a table's row describes, on `tasks` or, without any, on the row's task."""
    task = getattr(row, "task", "all")
    return NamedSetting(
        target=" ".join(filter(None, (row.target_label, row.quantisation))),
        draft=row.draft_label,
        method=row.method,
        depth=row.depth,
        engine=getattr(row, "engine_label", LLAMA_CPP) or "",
        concurrency=getattr(row, "concurrency", 1),
        conditions=getattr(row, "measured_with", ()),
        tasks=tasks or (() if task == "all" else (task,)),
    )


def measure(settings: Sequence[NamedSetting]) -> str:
    """The command line that measures settings of one target on the reader's machine.

    The line does not name methods that the harness cannot run.
    """
    first, levels = settings[0], sorted({each.concurrency for each in settings})
    words = ["run", "--target", file_of(first.target)]
    words += _each("--draft", (each.draft and file_of(each.draft) for each in settings))
    known = (each for each in settings if METHODS[each.method].runners)
    words += _each("--method", map(_method, known))
    words += _runner_options(settings)
    words += [] if levels == [1] else ["--concurrency", ",".join(map(str, levels))]
    for options in dict.fromkeys(tuple(each.conditions) for each in settings):
        words += options
    return line_of([*words, *_each("--tasks", (",".join(each.tasks) for each in settings))])


def _each(flag: str, values: Iterable[str | None]) -> list[str]:
    """A flag and a value for each distinct value, in order."""
    return [word for value in dict.fromkeys(values) if value for word in (flag, value)]


def line_of(words: Sequence[str]) -> str:
    """The shell line that runs the harness with these arguments."""
    return f"{PROGRAM} {shlex.join(words)}"


def fill(campaign: Row) -> str:
    """The command line that measures a wanted campaign (a row of the table `wanted`)."""
    return line_of(["run", "--target", campaign.preset])


def use(setting: NamedSetting) -> ServeLine | None:
    """The command that serves the target in this setting; `None` if the engine or method has none.

    A cell pools results with different values of options such as n-gram sizes, so the line has the
    defaults of these options.
    """
    # Engines without GGUF files serve a model by its name, which lacks "unquantised".
    by_name = any(x.hub is None and setting.engine.startswith(x.label) for x in ENGINES.values())

    def name(model: str) -> str:
        return _word(UNQUANTISED.sub("", model)) if by_name else file_of(model)

    method = default_method(setting.method, setting.depth)
    if setting.depth is None and method.n_max is not None:
        method = Method(type=setting.method)  # the depth varied or is unknown
    draft = name(setting.draft) if setting.draft else None
    return serve_nearest(setting.engine, name(setting.target), draft, method)


def own_runner(methods: Iterable[str]) -> RunnerEntry | None:
    """The first of llama.cpp's own runners that has all these methods."""
    able = (
        runner
        for runner in RUNNERS.values()
        if runner.engine_label and all(runner.id in METHODS[name].runners for name in methods)
    )
    return next(able, None)


def _runner_options(settings: Sequence[NamedSetting]) -> tuple[str, ...]:
    """The harness options that select a runner for the engine of these settings."""
    engine = settings[0].engine
    own = next((each for each in RUNNERS.values() if each.engine_label == engine), None)
    if own is None and engine == LLAMA_CPP:  # an imported figure
        own = own_runner([setting.method for setting in settings]) or SERVER
    return (own or OTHER_SERVERS).options


def _method(setting: NamedSetting) -> str:
    sized = setting.depth is not None and "n_max" in METHODS[setting.method].defaults
    depth = f":n_max={setting.depth}" if sized else ""
    return f"{_word(setting.method)}{depth}"


def file_of(model: str) -> str:
    return f"{_word(model)}.gguf"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-") or "MODEL"
