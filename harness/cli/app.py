"""Which commands are there? The typer application that `draftmap` and `python -m harness` start."""

import signal
from types import FrameType
from typing import Annotated

import typer

from harness import __version__
from harness.cli import console
from harness.cli.doctor import doctor
from harness.cli.import_ import import_
from harness.cli.methods import methods
from harness.cli.models import app as models
from harness.cli.run import run
from harness.cli.show import show
from harness.cli.submit import submit
from harness.cli.validate import validate

# As the README and all messages call it: it works installed and in a checkout.
_PROGRAM = "python -m harness"

app = typer.Typer(
    name="draftmap",
    help="Measure where speculative decoding makes a local LLM faster, where slower, and why.",
    epilog="Start with `python -m harness doctor`, then `python -m harness run --quick`.\n\n"
    "Exit codes: 0 done. 1 what was given cannot be used, such as a file or a model, or the answer "
    "is no. 2 the command line cannot be carried out. 3 the machine lacks something: memory, disk, "
    "network, a working engine. 130 interrupted; what was measured is kept.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
)
app.command()(run)
app.command()(doctor)
app.command()(validate)
app.command()(show)
app.command()(submit)
app.command()(methods)
app.command("import")(import_)
app.add_typer(models, name="models")


@app.callback(invoke_without_command=True)
def options(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Measure where speculative decoding makes a local LLM faster, where slower, and why."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    console.open_closed_streams()
    treat_termination_as_ctrl_c()
    app(prog_name=_PROGRAM)


def treat_termination_as_ctrl_c() -> None:
    """Let SIGTERM (from `kill`, `timeout`, a shutdown) do what Ctrl-C does, from now on."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
