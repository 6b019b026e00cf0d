"""Declare the options of `draftmap plan`, in the groups that its help shows."""

import re
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from harness.errors import BadInputError
from harness.options import option
from harness.report.settings_file import SettingsFileOptions
from planner.engine_commands import methods_by
from planner.engine_table import ENGINES
from planner.machines import MachineWords
from planner.memory import KV_TYPE_BYTES
from planner.model import Setting
from schemas.vocabulary import TASKS

_model = partial(option, panel="Models")
_loaded = partial(option, panel="How the model is loaded")
_machine = partial(option, panel="Machine")
_speed = partial(option, panel="Speed")
# The usual depth of methods that draft from the preceding text, without a model.
NGRAM = "ngram"
_FILES = (*methods_by("model"), *methods_by("other-head"))
_MODEL = (
    "a GGUF file, a model name (`qwen3-8b`, `qwen3-8b:Q8_0`; see `python -m harness models`) or "
    "`owner/repo:quant` on the Hugging Face Hub"
)


def _processor(text: str) -> str:
    """Return the text. Raises `BadInputError` if it names nothing, since names have numbers."""
    if not re.search(r"\d", text):
        raise BadInputError(
            f"--cpu {text!r}: name the processor or its memory, such as 8 cores DDR5-5600"
        )
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    target: str | None = _model(
        f"The model to speed up: {_MODEL}.", short="-m", metavar="MODEL", argument=True
    )
    draft: str | None = _model(
        f"Draft source: `mtp` (the target's own head), `{NGRAM}`, `none`, or {_MODEL}. Default: "
        "the best draft that `run` would measure.",
        short="-md",
        metavar="DRAFT",
        argument=True,
    )
    draft_kind: str | None = _model(
        f"Type of the draft file: {', '.join(_FILES)}. Default: {_FILES[0]}.",
        metavar="KIND",
        choices=_FILES,
    )
    engine: str | None = _model(
        f"The engine: {', '.join(ENGINES)}. Default: the one that the model's name implies, such "
        "as vllm for AWQ, else llama.cpp.",
        metavar="NAME",
        choices=tuple(ENGINES),
    )
    task: str | None = _model(
        f"Kind of task: {', '.join(TASKS)}. Default: all tasks.",
        metavar="TASK",
        choices=tuple(TASKS),
    )
    usual_engine: str | None = None  # if neither an option nor the text names an engine


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    context: int = _loaded(
        "Context in tokens.",
        short="-c",
        metavar="TOKENS",
        least=64,
        most=1 << 24,
        default=Setting().context,
    )
    slots: int = _loaded(
        "Number of concurrent requests (`-np`).", metavar="N", least=1, most=512, default=1
    )
    kv_type: str = _loaded(
        "Type of the KV cache: f16, q8_0, q4_0 …",
        metavar="TYPE",
        choices=tuple(KV_TYPE_BYTES),
        default="f16",
    )
    depth: int | None = _loaded(
        "Longest draft in tokens. Default: the method's usual depth.",
        metavar="N",
        least=1,
        most=256,
    )

    def setting(self, said_context: int | None) -> Setting:
        """Return context, slots and cache types as a setting for memory estimates.

        The context of the text counts if no option names one.
        """
        usual = self.context == Setting().context
        return Setting(
            context=(usual and said_context) or self.context,
            slots=self.slots,
            kv_k=self.kv_type,
            kv_v=self.kv_type,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputerOptions:
    """The description of a different machine, to plan for that machine instead of this one."""

    gpus: tuple[str, ...] = _machine(
        "A graphics card in another machine, such as `RTX 4060 8 GB`; `none` for a machine "
        "without a card. Repeat the option for several cards.",
        name="gpu",
        metavar="NAME",
        default=(),
    )
    vram: float | None = _machine("Memory of each card in GiB.", metavar="GIB", least=0, most=4096)
    free: float | None = _machine(
        "Free memory of each card in MiB. Default: the card's memory minus what drivers use.",
        metavar="MIB",
        least=0,
    )
    ram: float | None = _machine("Main memory in GiB.", metavar="GIB", least=0.1, most=65536)
    cpu: str | None = _machine(
        "CPU and memory, such as `8 cores DDR5-5600`.", metavar="TEXT", parse=_processor
    )

    @property
    def words(self) -> MachineWords:
        """The description as a type of `planner`, since `planner` does not import this module."""
        return MachineWords(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedOptions:
    curve: str | None = _speed(
        "This model's step times by width on this machine: JSON from `llama-bench -p "
        "1,2,3,4,5,6,7,8,9 -n 0 -o json`, or a file from `probe`. Default: the curve that `probe` "
        "saved on this machine; `none` for the usual costs.",
        metavar="FILE",
    )
    acceptance: float | None = _speed(
        "The share of drafted tokens that is accepted on your text, such as 0.62 or 62%.",
        metavar="FRACTION",
        such="0.62 or 62%",
        least=0,
        most=1,
    )
    tokens_per_round: float | None = _speed(
        "The tokens that a round yields on your text, such as 2.6, instead of --acceptance.",
        metavar="TOKENS",
        least=1,
        most=257,
    )
    log: tuple[Path, ...] = _speed(
        "A log or a server's answers with the counts of accepted drafts, read instead of "
        "--acceptance. A second file with the same prompts without speculation gives the plain "
        "speed.",
        metavar="FILE",
        parse=lambda texts: tuple(map(Path, texts)),
        default=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions(SettingsFileOptions):
    details: bool = option("Show all drafting methods, and sources.", default=False)
    json: bool = option("Print the plan as JSON.", default=False)
