"""The help of a command: its usual options first, all of them with `--help-all`."""

import inspect
import re
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand

# What all mistakes in a command line are. Typer names some of its kinds, and not this one.
UsageError: Any = typer.BadParameter.__base__

ALL = "--help-all"
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
# What other programs call an option of ours.
_ELSEWHERE = {
    "--model": "target",
    "--model-draft": "draft",
    "--draft-model": "draft",
    "--ctx-size": "context",
    "--n-gpu-layers": "gpu-layers",
    "--url": "base-url",
    "--out": "output",
    "--n-predict": "max-tokens",
    "--draft-max": "method",
    "--draft-min": "method",
    "--draft-p-min": "method",
    "--spec-draft-n-max": "method",
    "--spec-type": "method",
    "--method": "draft",
    "--n-gpu-layers-draft": "draft-gpu-layers",
    "--flash-attn": "flash-attention",
    "--parallel": "concurrency",
}
NO_RUNNING_SERVER = (
    "a server that runs does not say where the layers of its model are, so that its steps would be "
    "of an unknown setting: give --server-binary PATH, which is started, or plan with --curve FILE"
)
# Why a command has no such option, though others have it.
_WHY = {("probe", "--base-url"): NO_RUNNING_SERVER}


class Command(TyperCommand):
    """A command whose help is plain text: importing what draws frames takes a third of a second."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - as typer calls it
        super().__init__(**{**settings, "rich_markup_mode": None})

    def parse_args(self, context: Any, words: list[str]) -> Any:  # noqa: ANN401 - as typer calls it
        if ALL in words:
            context.meta[ALL] = True
            words = ["--help"]
        try:
            self._require_once(context, words)
            return super().parse_args(context, words)
        except UsageError as error:
            if not hasattr(error, "possibilities"):  # which an option has that does not exist
                raise
            params = self.get_params(context)
            options = (name for each in params for name in (*each.opts, *each.secondary_opts))
            names = [name.removeprefix("--") for name in options if name.startswith("--")]
            given = error.option_name.lstrip("-")
            near = [_ELSEWHERE.get(error.option_name), *get_close_matches(given, names, 1, 0.6)]
            similar = next((name for name in near if name in names), None)
            hint = f"did you mean --{similar}?" if similar else f"{ALL} lists all"
            hint = _WHY.get((context.command.name, error.option_name), hint)
            error.message = f"no option {error.option_name}; {hint}"
            error.possibilities = None
            raise

    def _require_once(self, context: Any, words: list[str]) -> None:  # noqa: ANN401 - see above
        """Refuse a second value of an option that takes one: the parser would drop the first."""
        _, _, order = self.make_parser(context).parse_args([*words])
        once = [each for each in order if each.nargs == 1 and not each.multiple]
        twice = next((each for each in once if once.count(each) > 1 and not _is_flag(each)), None)
        if twice is not None:
            message = f"{twice.opts[0]} is given twice; it takes one value"
            raise UsageError(message, ctx=context)

    def format_help(self, context: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        """Commands are not broken at a hyphen."""
        super().format_help(context, formatter)
        formatter.buffer = [text.replace(_HYPHEN, "-") for text in formatter.buffer]

    def collect_usage_pieces(self, context: Any) -> list[str]:  # noqa: ANN401 - see above
        """Words in capitals, without the braces of what is required."""
        pieces: list[str] = super().collect_usage_pieces(context)
        return [
            re.sub(r"\{([^{}]{1,80})\}", lambda name: name[1].upper(), piece) for piece in pieces
        ]

    def format_help_text(self, context: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - see above
        """Paragraphs with a blank line before each, and examples without one."""
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
                # The type of an argument is one of the program, not of what is typed.
                name = record[0] if is_option else record[0].partition(" <")[0].upper()
                panels.setdefault(title, []).append((name, _whole(record[1])))
        if hidden:
            panels["Options"].append((ALL, f"Show the other {hidden} options, too."))
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _is_flag(parameter: Any) -> bool:  # noqa: ANN401 - of the parser that typer carries
    return bool(getattr(parameter, "is_flag", False))


def _whole(text: str) -> str:
    return re.sub(r"(?<=\w)-(?=\w)", _HYPHEN, text.replace("`", ""))
