"""The help of a command: `--help` lists the usual options, `--help-all` lists all."""

import inspect
import re
import tomllib
from collections.abc import Collection
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

# The base class of all command-line mistakes. Typer exports only some of its subclasses.
UsageError: Any = typer.BadParameter.__base__

ALL = "--help-all"
_OTHER_NAMES = Path(__file__).with_name("other_names.toml")
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
# A short flag with several letters, such as those of llama.cpp.
_LETTERS = re.compile(r"-[a-z]{2,5}")
NO_RUNNING_SERVER = (
    "a running server does not report where its model's layers are, so its step times cannot be "
    "assigned to a setting. Give --server-binary PATH, so that the harness starts the server, or "
    "plan with --curve FILE"
)


class Command(TyperCommand):
    """A command whose help is plain text: importing rich, which draws frames, takes 0.3 seconds."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - as typer calls it
        super().__init__(**{**settings, "rich_markup_mode": None})

    def parse_args(self, context: Any, words: list[str]) -> Any:  # noqa: ANN401 - as typer calls it
        if ALL in words:
            context.meta[ALL] = True
            words = ["--help"]
        params = self.get_params(context)
        options = {name for each in params for name in (*each.opts, *each.secondary_opts)}
        for before, word in pairwise(["", *words]):
            # The parser would read such a flag (`-ctk`) as `-c` with the value `tk`.
            if _LETTERS.fullmatch(word) and word not in options and before != "--server-arg":
                raise UsageError(_no_option(word, options), ctx=context)
        try:
            self._require_once(context, words)
            return super().parse_args(context, words)
        except UsageError as error:
            if not hasattr(error, "possibilities"):  # not an unknown option
                raise
            error.message = _no_option(error.option_name, options)
            if (context.command.name, error.option_name) == ("probe", "--base-url"):
                error.message = f"no option --base-url; {NO_RUNNING_SERVER}"
            error.possibilities = None
            raise

    def _require_once(self, context: Any, words: list[str]) -> None:  # noqa: ANN401 - see above
        """Refuse a second value for a single-value option: the parser would drop the first."""
        _, _, order = self.make_parser(context).parse_args([*words])
        for each in order:
            single = each.nargs == 1 and not each.multiple and not getattr(each, "is_flag", False)
            if single and order.count(each) > 1:
                raise UsageError(f"{each.opts[0]} is given twice; give it once", ctx=context)

    def format_help(self, context: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        """Format the help without breaking commands at hyphens."""
        super().format_help(context, formatter)
        formatter.buffer = [text.replace(_HYPHEN, "-") for text in formatter.buffer]

    def collect_usage_pieces(self, context: Any) -> list[str]:  # noqa: ANN401 - see above
        """Return the usage's placeholders in capitals, without braces around required arguments."""
        pieces: list[str] = super().collect_usage_pieces(context)
        return [
            re.sub(r"\{([^{}]{1,80})\}", lambda name: name[1].upper(), piece) for piece in pieces
        ]

    def format_help_text(self, context: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - see above
        """Write the help's paragraphs, with a blank line before each except between examples."""
        before = ""
        with formatter.indentation():
            for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
                example = paragraph.startswith("- ")
                if not (example and before.startswith("- ")):
                    formatter.write_paragraph()
                formatter.write_text(_whole(paragraph.removeprefix("- ")))
                before = paragraph

    def format_options(self, context: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        whole = ALL in context.meta
        panels: dict[str, list[tuple[str, str]]] = {}
        hidden = 0
        parameters: list[Any] = self.get_params(context)
        for parameter in parameters:
            is_option = parameter.param_type_name == "option"
            if is_option and parameter.hidden and not whole:
                hidden += 1
                continue
            if is_option:
                parameter.hidden = False
            record = parameter.get_help_record(context)
            if record is not None:
                panel = parameter.rich_help_panel if whole else None
                title = panel or ("Options" if is_option else "Arguments")
                # An argument's type is internal: the name alone tells the user what to type.
                name = record[0] if is_option else record[0].partition(" <")[0].upper()
                panels.setdefault(title, []).append((name, _whole(record[1])))
        if hidden:
            panels["Options"].append((ALL, f"Also show the other {hidden} options."))
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _no_option(given: str, options: Collection[str]) -> str:
    """Return the error for an unknown option, with the option that was probably meant."""
    names = [name.removeprefix("--") for name in options if name.startswith("--")]
    elsewhere = tomllib.loads(_OTHER_NAMES.read_text("utf-8"))
    near = [elsewhere.get(given), *get_close_matches(given.lstrip("-"), sorted(names), 1, 0.6)]
    similar = next((name for name in near if name in names), None)
    return (
        f"no option {given}; "
        f"{f'did you mean --{similar}?' if similar else f'{ALL} lists all options'}"
    )


def _whole(text: str) -> str:
    return re.sub(r"(?<=\w)-(?=\w)", _HYPHEN, text.replace("`", ""))
