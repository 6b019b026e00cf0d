"""The words of the project as data: methods, tasks, verdicts, size classes, runners."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from schemas.submission import Task
from schemas.vocabulary.documents import document, entries
from schemas.vocabulary.flags import FLAGS, filled
from schemas.vocabulary.method_table import METHODS as METHODS


class TaskEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task; a figure over all tasks needs every task with `fixed`."""

    id: Task
    label: str
    fixed: bool = False


class VerdictEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A verdict with its words, its sign and its colours."""

    id: str
    word: str
    short: str
    sign: str
    terminal: str
    tile: Literal["gain", "loss", "flat"]
    share: str

    @property
    def label(self) -> str:
        """Sign and word, as pages print them: `▲ helps (confirmed)`."""
        return f"{self.sign} {self.word}"


class GradeEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A grade of evidence, identified by its letter."""

    id: str
    word: str


class SizeClass(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A class of models with fewer than `below` parameters; `id` can be used in an address."""

    id: str
    label: str
    below: int | None = None
    unknown: bool = False


class RunnerEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A runner, which operates an engine; `runners.toml` explains the keys."""

    id: str
    summary: str
    interleaved: Literal["prompt", "block"]
    default_methods: tuple[str, ...]
    engine_label: str | None = None
    options: tuple[str, ...] = ()
    concurrent: bool = False
    behind_servers: bool = False
    limits_drafts: bool = False
    reads_gguf: bool = False
    loads_folders: bool = False
    ignores: tuple[str, ...] = ()

    @property
    def methods(self) -> frozenset[str]:
        """The types of the methods that the runner can measure."""
        return frozenset(each.id for each in METHODS.values() if self.id in each.runners)


class WeightsEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model in a known weights file; `id` is the file's SHA-256."""

    id: str
    preset: str
    name: str
    quantisation: str


class CommonDevice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A device that many people own, by its name on the site; `common` is 3 for the most common."""

    id: str
    memory_gib: int
    common: int


class ReferenceModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model for comparing machines, identified by its address on the site."""

    id: str
    label: str
    preset: str
    kind: str


def size_class(parameters: int | None) -> SizeClass:
    """The size class of a model by its number of parameters."""
    if parameters is None:
        return next(each for each in SIZES.values() if each.unknown)
    return next(each for each in SIZES.values() if each.below is None or parameters < each.below)


def model_name(written: str) -> str:
    """The canonical name of a model for any spelling: `Qwen 3.6 27B` becomes `Qwen3.6-27B`."""
    return MODEL_NAMES.get(re.sub(r"[\s_]+", "-", written.strip().lower()), written)


def sentence(name: str, **words: object) -> str:
    """A sentence from `sentences.toml` with these words inserted."""
    return SENTENCES[name].format(**words)


def no_verdict(doubt: str) -> str:
    """A sentence on why a figure has no verdict; `doubt` is a key of `DOUBTS` or a text."""
    reason = DOUBTS.get(doubt, doubt)
    return sentence("no-verdict", doubt=f"{reason[:1].upper()}{reason[1:]}")


def as_json() -> dict[str, Any]:
    """Everything in the vocabulary that pages need, as a JSON value; the site's scripts read it."""
    words: dict[str, Any] = msgspec.to_builtins(
        {
            "all_tasks": ALL_TASKS,
            "helps_above": HELPS_ABOVE,
            "hurts_below": HURTS_BELOW,
            "clear_of_one": CLEAR_OF_ONE,
            "default_runner": DEFAULT_RUNNER,
            "methods": METHODS,
            "tasks": TASKS,
            "verdicts": VERDICTS,
            "sizes": SIZES,
            "runners": RUNNERS,
            "sentences": SENTENCES,
            "doubts": DOUBTS,
        }
    )
    return words


_tasks, _verdicts, _runners = document("tasks"), document("verdicts"), document("runners")
ALL_TASKS: str = _tasks["all_label"]
OWN_TASKS: str = _tasks["own_label"]
HELPS_ABOVE: float = _verdicts["helps_above"]
HURTS_BELOW: float = _verdicts["hurts_below"]
CLEAR_OF_ONE: float = _verdicts["clear_of_one"]
FEWEST_PROMPTS: int = _verdicts["fewest_prompts"]
DOUBTS: Mapping[str, str] = _verdicts["doubts"] | {
    each.id: filled(each.docs, each.bounds).rstrip(".")
    for each in FLAGS.values()
    if each.severity == "serious"
}
DEFAULT_RUNNER: str = _runners["default"]
SENTENCES: Mapping[str, str] = document("sentences")

_BOUNDS = ("helps_above", "hurts_below", "clear_of_one", "fewest_prompts")
TASKS = entries(TaskEntry, "tasks", _tasks, constants=("all_label", "own_label"))
FIXED_TASKS = tuple(task.id for task in TASKS.values() if task.fixed)
VERDICTS = entries(VerdictEntry, "verdicts", _verdicts, constants=(*_BOUNDS, "doubts"))
GRADES = entries(GradeEntry, "grades", document("grades"))
SIZES = entries(SizeClass, "sizes", document("sizes"))
RUNNERS = entries(RunnerEntry, "runners", _runners, constants=("default",))
WEIGHTS = entries(WeightsEntry, "weights", document("weights"))
COMMON_DEVICES = entries(CommonDevice, "common_devices", document("common_devices"))
REFERENCE_MODELS = entries(ReferenceModel, "reference_models", document("reference_models"))
# The names of models by their other spellings; `aliases.toml` explains the keys.
_aliases = document("aliases")
MODEL_NAMES: Mapping[str, str] = _aliases["models"]
MODEL_SLUGS: Mapping[str, str] = _aliases["slugs"]
