"""`draftmap models`: list, compare and fetch models; show which are on disk and which pairs fit."""

from pathlib import Path
from typing import Annotated, cast

import typer

from answers.model import ModelFacts
from answers.presets import default_draft
from harness import console
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.campaign.refusals import no_draft
from harness.command_help import Command
from harness.errors import NO, MachineError
from harness.models.compatibility import OTHER_VOCABULARIES, compare_files
from harness.models.describe import describe
from harness.models.gguf_shape import facts_of_file
from harness.models.model_file import WeightsFile
from harness.models.overview import overview
from harness.models.resolve import on_disk, resolve
from harness.models.room import named_facts, other_vocabulary
from harness.report.model_table import show, show_comparison
from schemas.codec import Json, encode

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, add_completion=False)


@app.callback()
@console.reports_errors
def models(
    context: typer.Context,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """Shows whether each model is on this disk and fits into the memory of this machine."""
    if context.invoked_subcommand is not None:
        return

    listed = overview(DEFAULT_CONTEXT_TOKENS)
    if json:
        console.print_json(cast("dict[str, Json]", encode(listed)))
        return
    show(listed, console.result_console())


@app.command(cls=Command)
@console.reports_errors
def check(
    *,
    target: Annotated[str, typer.Argument(help="A GGUF file, a model name or `owner/repo:quant`.")],
    draft: Annotated[str, typer.Argument(help="The model that would draft for TARGET.")],
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Check whether DRAFT can draft for TARGET, by llama.cpp's rule, from the files' headers.

    No weights are fetched or loaded: models that are not on this disk are compared by their known
    facts. Exit code 1 means no.
    """
    paths = [on_disk(name) for name in (target, draft)]
    files = [WeightsFile(path=path) for path in paths if path is not None]
    compared = None
    if len(files) == len(paths):
        compared = compare_files(*(file.path for file in files))
        reason = no_draft(*(describe(file, say=console.say) for file in files)) or compared.reason
    else:
        reason = other_vocabulary(*map(_known, (target, draft), paths))
        console.say(
            "The files are not on this disk, so only the vocabularies' sizes and origins "
            "were compared."
        )
    if json:
        answer = {"fits": reason is None, "reason": reason, "comparison": encode(compared)}
        console.print_json({"target": target, "draft": draft, **answer})
    else:
        show_comparison(target, draft, compared, reason, console.result_console())
        if compared is not None and not compared.fits:
            console.print_lines([f"{OTHER_VOCABULARIES}."])
    if reason is not None:
        raise typer.Exit(NO)


@app.command(cls=Command)
@console.reports_errors
def get(
    *,
    name: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model name or `owner/repo:quant`.")
    ],
    draft: Annotated[
        bool,
        typer.Option("--draft/--no-draft", help="Also fetch the preset's draft."),
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the paths as JSON.")] = False,
) -> None:
    """Fetch a model and its draft, and print their paths.

    A file that is on this disk is not fetched again. An interrupted download is continued, and
    every file is compared with the hub's SHA-256 before it is used.
    """
    usual = default_draft(name) if draft else None
    paths: dict[str, Json] = {}
    for model in (name, usual.name) if usual else (name,):
        path = on_disk(model)
        if path is not None:
            console.say(f"{model} is already on this disk.")
        paths[model] = str(path or resolve(model, say=console.say).path)
        if not json:
            typer.echo(paths[model])
    if json:
        console.print_json({"paths": paths})


def _known(name: str, path: Path | None) -> ModelFacts:
    """Return the known facts about a model.

    Raises `MachineError`, which names the command that fetches the model, if nothing is known.
    """
    facts = named_facts(name) if path is None else facts_of_file(path)
    if facts is None:
        raise MachineError(
            f"{name} is not on this disk; `python -m harness models get {name}` fetches it"
        )
    return facts
