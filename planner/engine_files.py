"""Write how to serve a model as the file from which its engine reads settings."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

from planner.engine_commands import ServeLine
from planner.engine_table import ENGINES

_FLAG = re.compile(r"--?[A-Za-z]")
_HEADINGS = re.compile(r"^(?=\[)", re.MULTILINE)
# The flags of llama.cpp that name the target: a file or a repository on the hub.
_TARGETS = ("-m", "-hf")


def model_name(line: ServeLine) -> str:
    """The name of the target in a preset of llama.cpp: its repository, or its file's name."""
    flag, name = next(pair for pair in pairwise(line.words) if pair[0] in _TARGETS)
    return name if flag == "-hf" else PurePath(name).stem


def heading(model: str) -> str:
    """The heading of a model in a preset of llama.cpp."""
    return f"[{model}]"


def settings_text(line: ServeLine, before: str = "") -> str:
    """The file's text, for an engine that has one.

    `before` is the present text of a preset, whose other models stay as they are.
    """
    engine = ENGINES[line.engine or ""]
    form, rest = engine.settings and engine.settings.form, line.words[len(engine.program) :]
    if form == "lines":
        return "".join(f"{word}\n" for word in line.words)
    if form == "yaml":
        key = engine.program[-1] if engine.program[-1].startswith("--") else "--model"
        return "".join(f"{name}: {_scalar(value)}\n" for name, value in _options((key, *rest)))
    options = (f"{name} = {value or 'true'}" for name, value in _options(rest))
    own = [heading(model_name(line)), *options]
    others = (part for part in _HEADINGS.split(before) if part.splitlines()[:1] != own[:1])
    kept = "".join(others).rstrip()
    return "\n".join([*([kept, ""] if kept else []), *own, ""])


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options without their dashes, each with its value; empty for a flag without a value."""
    for word, following in pairwise((*words, "--end")):
        if _FLAG.match(word):
            yield word.lstrip("-"), "" if _FLAG.match(following) else following


def _scalar(value: str) -> str:
    """A value in YAML: a number, a truth value, or a string in single quotes."""
    quoted = value.replace("'", "''")
    return (value or "true") if value.isdecimal() or not value else f"'{quoted}'"
