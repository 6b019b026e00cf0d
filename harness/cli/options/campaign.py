"""Which options of `run` say what is measured? Models, methods, prompts and how often."""

from typing import Annotated

import typer

from harness.campaign.methods import METHODS
from harness.runners import RUNNERS
from schemas.vocabulary import FIXED_TASKS

_MODELS = "Models"
_WHAT = "What is measured"
_MODEL_HELP = (
    "a GGUF file, a preset (see `python -m harness models`) or `owner/repo:quant` on the hub"
)


def _methods_of(runner: str) -> str:
    """The names of a runner's methods."""
    return ", ".join(name for name in METHODS if name in RUNNERS[runner].methods)


_METHOD_HELP = (
    "How drafts are made; repeat it to compare, with other sizes if wanted: "
    "`prompt-lookup:n_max=5`. `python -m harness methods` explains them and their sizes. "
    f"In-process: {_methods_of('llama-cpp-python')}. With --runner llama-server: "
    f"{_methods_of('llama-server')}. Default: two of the runner's."
)


Target = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help=f"The model whose output is wanted: {_MODEL_HELP}. "
        "Default: a small embedded model that needs no hub.",
        rich_help_panel=_MODELS,
    ),
]
Draft = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL",
        help=f"A smaller model that proposes tokens: {_MODEL_HELP}. Repeat it to compare "
        "several. Default: the one that fits a preset target.",
        rich_help_panel=_MODELS,
    ),
]
Method = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METHOD",
        help=_METHOD_HELP,
        rich_help_panel=_WHAT,
    ),
]
Suite = Annotated[
    str | None,
    typer.Option(
        metavar="SUITE",
        help="Prompt suite: an id or a TOML file. Default: core.",
        rich_help_panel=_WHAT,
    ),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TASKS",
        help=f"Only these tasks, such as `code,json`; of the suite core: {', '.join(FIXED_TASKS)}.",
        rich_help_panel=_WHAT,
    ),
]
Prompts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PROMPTS",
        help="Only these prompts: ids, patterns (`code-*`), or a number: so many of each task.",
        rich_help_panel=_WHAT,
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=2, help="Longest output. Default: the suite's.", rich_help_panel=_WHAT
    ),
]
Blocks = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=1000,
        help="How often everything is repeated. Default: 3 to 6, until --precision is reached; "
        "with --quick 1.",
        rich_help_panel=_WHAT,
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        min=0.001,
        max=0.5,
        help="Stop once measuring the same prompts for ever would change no speedup by more: "
        "0.03 is ±3 %, the default.",
        rich_help_panel=_WHAT,
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        metavar="MINUTES",
        min=0.1,
        max=100_000,
        help="Begin no block that would end later than so many minutes after the start. "
        "The first is always run. Default: no limit.",
        rich_help_panel=_WHAT,
    ),
]
Control = Annotated[
    bool,
    typer.Option(
        "--control",
        help="Also measure the baseline against itself and a loop that drafts nothing: do the "
        "figures of this machine deserve trust?",
        rich_help_panel=_WHAT,
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="A fixed part of the suite with short outputs: minutes instead of an hour.",
        rich_help_panel=_WHAT,
    ),
]
TeacherForced = Annotated[
    bool,
    typer.Option(
        "--teacher-forced",
        help="Feed the baseline's tokens as truth: every arm writes the same text, and the "
        "acceptance is clean.",
        rich_help_panel=_WHAT,
    ),
]
