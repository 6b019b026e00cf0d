"""`draftmap models`: list and fetch models; show which are on disk and which pairs fit."""

from typing import Annotated, cast

import typer

from harness import console
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.command_help import Command
from harness.models.overview import overview
from harness.models.resolve import on_disk, resolve
from harness.report.model_table import show
from planner.presets import default_draft
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
