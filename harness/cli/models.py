"""`draftmap models`: which models have a name, are here, fit this machine, or go together?"""

from __future__ import annotations

from typing import Annotated

import typer

from harness import vocabulary
from harness.cli import models_table, talk
from harness.errors import MachineError
from harness.gguf_header import vocabulary_and_tokens
from harness.models.located import located
from harness.models.overview import overview
from harness.models.presets import presets
from harness.models.resolve import resolve
from schemas.codec import Json, encode

_DOES_NOT_FIT = 1

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")


@app.callback()
@talk.reports_errors
def models(
    context: typer.Context,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the list for machines.")] = False,
) -> None:
    """List the models that have a name and the pairs that people use; check or fetch models.

    Says for each what is on this disk and whether it fits the memory of this machine.
    """
    if context.invoked_subcommand is not None:
        return
    found = overview()
    if json:
        talk.print_json(encode(found))
        return
    models_table.show(found, talk.result_console())


@app.command()
@talk.reports_errors
def check(
    *,
    target: Annotated[str, typer.Argument(help="A GGUF file, a preset or `owner/repo:quant`.")],
    draft: Annotated[str, typer.Argument(help="The model that is to draft for it.")],
    json: Annotated[bool, typer.Option("--json", help="Print the answer for machines.")] = False,
) -> None:
    """Can DRAFT propose tokens to TARGET? llama.cpp's rule, from the headers of two GGUF files.

    Nothing is fetched and no weights are loaded. The exit code is 0 for yes and 1 for no. A wrong
    path or a broken file is an error with code 1, too, a model yet to be fetched one with code 3.
    """
    paths = located(target), located(draft)
    ours, theirs = (vocabulary_and_tokens(path) for path in paths)
    compared = vocabulary.compare(
        ours[0], theirs[0], target_tokens=lambda: ours[1], draft_tokens=lambda: theirs[1]
    )
    if json:
        talk.print_json(_answer(target, draft, compared))
    else:
        models_table.show_comparison(target, draft, compared, talk.result_console())
    if not compared.fits:
        raise typer.Exit(_DOES_NOT_FIT)


@app.command()
@talk.reports_errors
def get(
    *,
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A preset or `owner/repo:quant`.")],
    draft: Annotated[
        bool,
        typer.Option("--draft/--no-draft", help="Fetch the preset's draft too."),
    ] = True,
) -> None:
    """Fetch a model, and the draft that goes with it, and print where they lie.

    What is here already is not fetched again. A download that was interrupted goes on where it
    stopped, and what arrives is compared with the hub's SHA-256 before it is used.
    """
    preset = presets().get(name.lower())
    names = [name]
    if draft and preset is not None and preset.draft is not None:
        names.append(preset.draft)
    for each in names:
        typer.echo(str(_path(each)))


def _path(name: str) -> str:
    try:
        path = located(name)
    except MachineError:
        return str(resolve(name, say=talk.say).path)
    talk.say(f"{name} is on this disk already.")
    return str(path)


def _answer(target: str, draft: str, compared: vocabulary.Comparison) -> Json:
    answer = encode(compared)
    return {"target": target, "draft": draft, "fits": compared.fits, "comparison": answer}
