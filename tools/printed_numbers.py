"""Store the numbers that methodology, pages and help print: `python -m tools.printed_numbers`.

A test compares the texts with `tests/data/printed_numbers.json`, so that rewriting a sentence
cannot change its numbers.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer
from typer.testing import CliRunner

from harness.cli import app
from harness.command_help import ALL
from harness.features import COMMANDS

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tests" / "data" / "printed_numbers.json"
TEXTS = ("README.md", "docs/*.md", "site_src/*.md", "pipeline/site/templates/*.jinja")
_CODE = re.compile(r"\{[%{#][^{}]*[%}#]\}|<(?!\d)[^<>]*>|\]\([^()]*\)|https?:\S+")
_NUMBER = re.compile(r"(?<![\w.,#&-])\d[\d,]*(?:\.\d+)?(?:\s?[%\u00d7])?(?![\w-])")


def numbers(text: str) -> list[str]:
    """Return the sorted numbers of a text with their % or times sign; skip code and addresses."""
    return sorted(each.rstrip(",") for each in _NUMBER.findall(_CODE.sub(" ", text)))


def printed() -> Mapping[str, list[str]]:
    """The printed numbers, keyed by file or, for help texts, by command."""
    return {name: found for name, text in _texts() if (found := numbers(text))}


def _texts() -> Iterator[tuple[str, str]]:
    for pattern in TEXTS:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
    for words in _commands():
        yield f"draftmap {' '.join(words)}", CliRunner().invoke(app, words).stdout


def _commands() -> Iterator[list[str]]:
    """Yield the words that print the help of the program, and of each command and subcommand."""
    yield ["--help"]
    group = typer.main.get_command(app)
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[attr-defined,arg-type]
        listed = getattr(command, "commands", {})
        yield [name, "--help" if listed else ALL]
        yield from ([name, below, ALL] for below in listed)


if __name__ == "__main__":
    lines = (f" {json.dumps(name)}: {json.dumps(each)}" for name, each in printed().items())
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
