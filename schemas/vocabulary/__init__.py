"""The words of the project as data: methods, tasks, verdicts, size classes, runners and metrics.

Each is a TOML file beside this one, read once. Python, SQL and the page scripts take these words
from here; how a figure is printed is in `schemas.vocabulary.say`.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from schemas.submission import Task

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
Direction = Literal["higher", "lower", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaCpp:
    """What llama.cpp's server calls a method: its type, and the flag of each size, newest first."""

    types: tuple[str, ...]
    ngram_size: tuple[str, ...] = ()
    n_min: tuple[str, ...] = ()
    n_max: tuple[str, ...] = ()
    min_hits: tuple[str, ...] = ()
    p_min: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodEntry:
    """A way of drafting; `methods.toml` says what each key means."""

    id: str
    label: str
    summary: str
    reported: str | None = None
    colour: str | None = None
    shape: str | None = None
    draft: Literal["none", "built-in", "required"] = "none"
    architectures: tuple[str, ...] = ()
    drafts: bool = True
    every_round: bool = False
    free: bool = False
    control: Literal["baseline-again", "empty-draft"] | None = None
    runners: tuple[str, ...] = ()
    nearest: str | None = None
    defaults: Mapping[str, float] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    llama_cpp: LlamaCpp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """A task; a figure over all tasks needs the fixed ones."""

    id: Task
    label: str
    fixed: bool = False
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictEntry:
    """A verdict with its words, its sign and its colours."""

    id: str
    word: str
    short: str
    sign: str
    terminal: str
    tile: Literal["gain", "loss", "flat"]
    share: str
    prediction: str | None = None

    @property
    def label(self) -> str:
        """Sign and word, as pages print them: `▲ helps`."""
        return f"{self.sign} {self.word}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClass:
    """A class of models with fewer than `below` parameters; `id` is fit for an address."""

    id: str
    label: str
    below: int | None = None
    unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerEntry:
    """A way to reach an engine; `runners.toml` says what each key means."""

    id: str
    summary: str
    interleaved: Literal["prompt", "block"]
    default_methods: tuple[str, ...]
    engine_label: str | None = None
    options: str = ""
    concurrent: bool = False
    behind_servers: bool = False
    limits_drafts: bool = False
    forces: bool = False
    offered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A numeric column: what to call it, in which unit, and which direction is better."""

    label: str
    unit: str
    direction: Direction


def size_class(parameters: int | None) -> SizeClass:
    """The size class of a model with so many parameters."""
    if parameters is None:
        return next(each for each in SIZES.values() if each.unknown)
    return next(each for each in SIZES.values() if each.below is None or parameters < each.below)


@cache
def metrics() -> dict[str, Metric]:
    """Every numeric column of the tables by its name."""
    names = [each.name for each in dataclasses.fields(Metric)]
    return {
        column: read_entry(Metric, f"metrics.{column}", dict(zip(names, values, strict=True)))
        for column, values in _document("metrics").items()
    }


def as_json() -> dict[str, Any]:
    """All words that pages need, as one JSON value; the scripts of the site read it."""
    entries: dict[str, Mapping[str, DataclassInstance]] = {
        "methods": METHODS,
        "tasks": TASKS,
        "verdicts": VERDICTS,
        "sizes": SIZES,
        "runners": RUNNERS,
    }
    scalars = {
        "all_tasks": ALL_TASKS,
        "helps_above": HELPS_ABOVE,
        "hurts_below": HURTS_BELOW,
        "default_runner": DEFAULT_RUNNER,
    }
    return scalars | {
        name: {key: dataclasses.asdict(entry) for key, entry in found.items()}
        for name, found in entries.items()
    }


def read_entry(cls: type[T], place: str, table: Mapping[str, Any]) -> T:
    """Build an entry from a table of TOML. Raises `ValueError` for unknown and missing keys."""
    fields = {each.name: each for each in dataclasses.fields(cls)}
    needed = {
        name
        for name, each in fields.items()
        if each.default is MISSING and each.default_factory is MISSING
    }
    if wrong := (table.keys() - fields.keys()) | (needed - table.keys()):
        message = f"{place}: unknown or missing keys: {', '.join(sorted(wrong))}"
        raise ValueError(message)
    return cls(**{name: _value(name, place, value) for name, value in table.items()})


def _value(name: str, place: str, value: Any) -> Any:  # noqa: ANN401 - any value of TOML
    if name == "llama_cpp":
        return read_entry(LlamaCpp, f"{place}.{name}", value)
    if isinstance(value, dict):
        return {key: _value(key, place, each) for key, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _document(name: str) -> dict[str, Any]:
    file = resources.files(__name__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text("utf-8"))


def _entries(cls: type[T], name: str, document: Mapping[str, Any]) -> dict[str, T]:
    return {
        key: read_entry(cls, f"{name}.{key}", {"id": key, **table})
        for key, table in document.items()
    }


_tasks, _verdicts, _runners = _document("tasks"), _document("verdicts"), _document("runners")
ALL_TASKS: str = _tasks.pop("all_label")
HELPS_ABOVE: float = _verdicts.pop("helps_above")
HURTS_BELOW: float = _verdicts.pop("hurts_below")
DEFAULT_RUNNER: str = _runners.pop("default")

METHODS = _entries(MethodEntry, "methods", _document("methods"))
TASKS = _entries(TaskEntry, "tasks", _tasks)
FIXED_TASKS = tuple(task.id for task in TASKS.values() if task.fixed)
VERDICTS = _entries(VerdictEntry, "verdicts", _verdicts)
SIZES = _entries(SizeClass, "sizes", _document("sizes"))
RUNNERS = _entries(RunnerEntry, "runners", _runners)
