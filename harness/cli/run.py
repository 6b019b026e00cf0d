"""`draftmap run`: measure, write the result file, print the verdict."""

from pathlib import Path
from typing import Annotated

import typer

from harness.campaign import Options
from harness.cli import talk
from harness.cli.session import Contribution, dry_run, measure
from harness.errors import BadInputError
from harness.methods import parse

_MODELS = "Models"
_WHAT = "What is measured"
_HOW = "How it runs"
_OUT = "Result"
_MODEL_HELP = (
    "a GGUF file, a preset (see `python -m harness models`) or `owner/repo:quant` on the hub"
)
_METHOD_HELP = (
    "How drafts are made; repeat it to compare, with sizes if others are wanted: "
    "`prompt-lookup:n_max=5`. In-process: prompt-lookup and draft-model, and as controls none, "
    "empty-draft and oracle. With --runner llama-server: draft-model, ngram-simple, ngram-map-k, "
    "ngram-map-k4v, ngram-mod, ngram-cache, mtp, eagle3, dflash, dspark and none. "
    "Default: the runner's."
)


@talk.reports_errors
def run(  # noqa: PLR0913 - each argument is an option of the command
    *,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help=f"The model whose output is wanted: {_MODEL_HELP}. "
            "Default: a small embedded model that needs no hub.",
            rich_help_panel=_MODELS,
        ),
    ] = None,
    draft: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help=f"A smaller model that proposes tokens: {_MODEL_HELP}. Repeat it to compare "
            "several. Default: the one that fits a preset target.",
            rich_help_panel=_MODELS,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD",
            help=_METHOD_HELP,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            metavar="SUITE",
            help="Prompt suite: an id or a TOML file. Default: core.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASKS",
            help="Only these tasks, such as `code,json`; of the suite core: code, math, reasoning, "
            "summarization, chat, json, creative, translation.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    prompts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROMPTS",
            help="Only these prompts: ids, patterns (`code-*`), or a number: so many of each task.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=2, help="Longest output. Default: the suite's.", rich_help_panel=_WHAT
        ),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="How often everything is repeated. Default: 3 to 6, until --precision is reached; "
            "with --quick 1.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0.001,
            max=0.5,
            help="Stop once measuring the same prompts for ever would change no speedup by more: "
            "0.03 is ±3 %, the default.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0.1,
            max=100_000,
            help="Begin no block that would end later than so many minutes after the start. "
            "The first is always run. Default: no limit.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    control: Annotated[
        bool,
        typer.Option(
            "--control",
            help="Also measure the baseline against itself and a loop that drafts nothing: do the "
            "figures of this machine deserve trust?",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A fixed part of the suite with short outputs: minutes instead of an hour.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    teacher_forced: Annotated[
        bool,
        typer.Option(
            "--teacher-forced",
            help="Feed the baseline's tokens as truth: every arm writes the same text, and the "
            "acceptance is clean.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    context: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=64, help="Context in tokens. Default: 2048.", rich_help_panel=_HOW
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Threads. Default: the engine's choice.", rich_help_panel=_HOW
        ),
    ] = None,
    gpu_layers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=-1,
            help="Layers of the target on the GPU (-1: all). Default: all.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    draft_gpu_layers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=-1,
            help="Layers of the draft on the GPU (-1: all). Default: all.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    baseline_gpu_layers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=-1,
            help="Also measure the target alone with so many layers on the GPU (-1: all): what "
            "the draft's memory could do instead. Default: not measured.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    runner: Annotated[
        str,
        typer.Option(
            metavar="RUNNER",
            help="`llama-cpp-python` runs it in-process, `fake` makes figures up.",
            rich_help_panel=_HOW,
        ),
    ] = "llama-cpp-python",
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=2**32 - 1,
            help="Seed of the plan's shuffle.",
            rich_help_panel=_HOW,
        ),
    ] = 0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with an interrupted run; give the same options again.",
            rich_help_panel=_HOW,
        ),
    ] = False,
    plan_only: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the plan and how long it takes.", rich_help_panel=_HOW
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Where the result goes: a file (NAME.json), or a directory, where it gets its "
            "canonical name. Default: here.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    contributor: Annotated[
        str | None,
        typer.Option(
            metavar="HANDLE",
            help="Your handle on the code host, if you want it in the file.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    notes: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="One line about the machine: cooling, undervolting.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the result for machines.", rich_help_panel=_OUT),
    ] = False,
) -> None:
    """Measure this machine and write one result file.

    With no option at all it works: a small embedded model, two ways of drafting, the core suite.

    - `python -m harness run --quick` for a first look

    - `python -m harness run --target qwen3-8b` for a model of the hub with the draft that fits

    - `python -m harness run --target big.gguf --draft small.gguf --method draft-model:n_max=3`
    """
    options = Options(
        target=target,
        drafts=tuple(draft or ()),
        methods=tuple(parse(text) for text in method or ()),
        suite=suite,
        tasks=_split(tasks),
        prompts=_split(prompts),
        max_tokens=max_tokens,
        blocks=blocks,
        precision=precision,
        budget_min=budget,
        control=control,
        context=context,
        threads=threads,
        gpu_layers=gpu_layers,
        draft_gpu_layers=draft_gpu_layers,
        baseline_gpu_layers=baseline_gpu_layers,
        teacher_forced=teacher_forced,
        quick=quick,
        seed=seed,
    )
    about = Contribution(contributor=contributor, notes=notes)
    if plan_only:
        dry_run(options, about, runner=runner, output=output, as_json=json)
        return
    measure(options, about, runner=runner, output=output, resume=resume, as_json=json)


def _split(values: list[str] | None) -> tuple[str, ...]:
    parts = (part.strip() for value in values or () for part in value.split(","))
    names = tuple(part for part in parts if part)
    if values and not names:
        message = "an empty list of tasks or prompts; leave the option out for all"
        raise BadInputError(message)
    return names
