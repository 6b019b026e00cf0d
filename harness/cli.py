"""The typer application that `draftmap` and `python -m harness` start.

A command's module is imported only when the command is used: engines, the hub client and numerical
libraries take seconds to import, and `--help` needs none of them.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from harness import INSTALLED, PROGRAM, __version__, console
from harness.command_help import Command, UsageError
from harness.errors import EXIT_CODES, BadInputError, MachineError
from harness.features import COMMANDS, command_module, guide

_SIMILAR = 0.65
_SHORT = ("m", "md", "ngl", "c", "t", "o", "h", "V")
HELP_NAMES = {"help_option_names": ["-h", "--help"]}


class _Commands(TyperGroup):
    """The commands in the table `COMMANDS`, in the same order.

    The command list is plain text: drawing frames around it would double the time of `--help`.
    """

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - as typer calls it
        super().__init__(**settings)
        for name in COMMANDS:
            self.add_command(TyperCommand(name))

    def parse_args(self, context: Any, words: list[str]) -> list[str]:  # noqa: ANN401 - as typer calls it
        with _in_one_line():
            return super().parse_args(context, words)

    def invoke(self, context: Any) -> Any:  # noqa: ANN401 - as typer calls it
        with _in_one_line():
            return super().invoke(context)

    def get_params(self, context: Any) -> Any:  # noqa: ANN401 - as typer calls it
        """Return the program's own options, without the options of its commands."""
        return _prepared(super().get_params, context)

    def get_command(self, context: Any, name: str) -> Any:  # noqa: ANN401, ARG002 - as typer calls it
        """Import the module of a command, and return the command."""
        return _loaded(name) if name in self.commands else None

    def format_commands(self, context: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - see above
        """Write the whole first line of each command's help; typer would cut it."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@contextmanager
def _in_one_line() -> Iterator[None]:
    """Report a command-line mistake in one line; typer would print the usage above the message."""
    try:
        yield
    except UsageError as error:
        message = error.format_message().removesuffix(".")
        if error.ctx and error.ctx.get_help().startswith(message):  # no arguments given
            raise
        hint = f"; `{error.ctx.command_path} --help` shows the usage" if error.ctx else ""
        whole = ";" in message or message.endswith("?")
        raise UsageError(message if whole else f"{message}{hint}") from error


def _loaded(name: str) -> Any:  # noqa: ANN401 - of the parser that typer carries
    module = command_module(name)
    application = getattr(module, "app", None)
    if application is None:
        application = typer.Typer(add_completion=False, context_settings=HELP_NAMES)
        function = getattr(module, "import_" if name == "import" else name)
        application.command(name, cls=Command, help=getattr(module, "HELP", None))(function)
    command: Any = typer.main.get_command(application)
    command.name = name
    command.help = "\n\n".join(filter(None, (COMMANDS[name], command.help)))
    command.epilog = f"Guide: {guide(name)} in the repository."
    for shown in (command, *command.params):
        shown.help = console.as_started(getattr(shown, "help", None) or "")
    for shown in (command, *getattr(command, "commands", {}).values()):
        shown.short_help = (shown.help or "").partition("\n\n")[0]  # typer would shorten the text
        shown.get_params = partial(_prepared, shown.get_params)
        _convert_paths(shown)
    return command


def _prepared(get_params: Any, context: Any) -> Any:  # noqa: ANN401 - as typer calls it
    """Return a command's parameters; flags take no value, so their help shows no type.

    Flags such as `--help` get the explicit default `False`, so that typer need not import pydantic
    to convert it.
    """
    found = get_params(context)
    for each in found:
        if getattr(each, "is_flag", False):
            each.metavar = ""
            each.default = each.default or False
    return found


def _convert_paths(command: Any) -> None:  # noqa: ANN401 - as typer made it
    """Convert path parameters without typer, which would import pydantic for that (0.1 s)."""
    kinds = get_type_hints(command.callback) if command.callback else {}
    for each in command.params:
        if kinds.get(each.name) in (Path, list[Path]):
            each.process_value = partial(_as_path, each.process_value)


def _as_path(convert: Any, context: Any, given: Any) -> Any:  # noqa: ANN401 - as typer calls it
    """Convert an argument, or each of a list, to a path; typer reports a missing argument."""
    if "" in (given, *(given if isinstance(given, (list, tuple)) else ())):
        raise UsageError("a path is empty; leave it out, or name a file or a folder")
    if given and isinstance(given, (list, tuple)):
        return [Path(each) for each in given]
    return Path(given) if isinstance(given, (str, Path)) else convert(context, given)


app = typer.Typer(
    name="draftmap",
    cls=_Commands,
    help="Measure where speculative decoding makes a local LLM faster or slower, and why.",
    epilog=f"Start with `{PROGRAM} doctor`, then `{PROGRAM} run --quick`.\n\n"
    f"Exit codes: {'. '.join(f'{code} {text}' for code, text in EXIT_CODES.items())}.",
    add_completion=INSTALLED,  # `python -m harness` is not a word that a shell completes
    context_settings=HELP_NAMES,
    rich_markup_mode=None,
    pretty_exceptions_show_locals=False,
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and exit.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the facts about this machine as JSON.")
    ] = False,
) -> None:
    """Measure where speculative decoding makes a local LLM faster or slower, and why."""
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if json and context.invoked_subcommand:
        raise UsageError(
            f"give --json after the command; {context.invoked_subcommand} ignores it here"
        )
    if context.invoked_subcommand is None:
        from harness.commands.welcome import welcome  # noqa: PLC0415 - only if nothing was asked for

        console.reports_errors(welcome)(json=json)


def main() -> None:
    """Run the command line and exit with its code."""
    console.prepare_streams()
    treat_termination_as_ctrl_c()
    try:
        app(in_full(sys.argv[1:]), prog_name=PROGRAM)
    except BadInputError as error:
        console.say(f"Error: {error}")
        raise SystemExit(error.exit_code) from None
    except MemoryError:
        console.say("Error: out of memory; end other programs, or raise the memory limit")
        raise SystemExit(MachineError.exit_code) from None


def in_full(words: list[str]) -> list[str]:
    """Expand the shortcuts: `help run` to `run --help`, and a model to `run MODEL`.

    Raises `BadInputError` for a word that is neither a command nor a model.
    """
    for word in words:
        if (plain := _as_typed(word)) != word:
            raise BadInputError(f"{word!r} has typographic dashes or quotes; type {plain}")
    first = words[0] if words else "-"
    if first == "help":
        return [*words[1:2], "--help"]
    if first in COMMANDS or first.startswith("-"):
        return words
    from harness.models.resolve import is_model, names, refuse_unknown  # noqa: PLC0415 - slow

    if is_model(first):
        return ["run", *words]
    if first == "import":
        raise BadInputError(
            "`import` works only in a checkout of the repository; clone it with git"
        )
    if "/" in first or ":" in first or first.lower().endswith(".gguf"):
        raise refuse_unknown(first)
    kinds = (("command", COMMANDS, "--help"), ("model", names(), "models"))
    near = (
        f"the nearest {kind} is {nearest[0]!r}" if nearest else f"`{PROGRAM} {lists}` lists {kind}s"
        for kind, choices, lists in kinds
        for nearest in [get_close_matches(first.lower(), choices, 1, _SIMILAR)]
    )
    raise BadInputError(
        f"{first!r} is neither a command nor a model (a name, a file or owner/repo:quant); "
        f"{', '.join(near)}"
    )


def _as_typed(word: str) -> str:
    """Replace typographic quotes and dashes, as copied from a web page, with plain ASCII ones."""
    bare = word if " " in word else word.strip("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
    name = bare.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
    if not bare[: len(bare) - len(name)].strip("-"):
        return bare
    return f"{'-' if name in _SHORT else '--'}{name}"


def treat_termination_as_ctrl_c() -> None:
    """Make SIGTERM (from `kill`, `timeout`, a shutdown) act like Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
