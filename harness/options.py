"""Describes command-line options next to the dataclass fields that they fill.

A field `blocks: Annotated[int | None, Option("How often …")] = None` is offered as `--blocks`;
`harness.cli.options` makes the command line from it. A field without an `Option` is not offered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class Option:
    """How a field is offered: its help text, and what the field's name and type do not tell.

    An option with `words` takes these for numbers, too. A field that is a tuple may be given
    several times; `parse` makes the tuple of all the texts.
    """

    help: str
    name: str | None = None
    short: str | None = None
    metavar: str | None = None
    panel: str | None = None
    least: float | None = None
    most: float | None = None
    words: Mapping[str, int] | None = None
    parse: Callable[[Sequence[str]], tuple[Any, ...]] = tuple

    def number(self, field: str, text: str) -> int:
        """The number that a word or digits stand for. Raises `UsageError`."""
        words = self.words or {}
        if text.lower() in words:
            return words[text.lower()]
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or (self.least is not None and number < self.least):
            known = ", ".join(words)
            message = (
                f"{self.flag(field)} {text}: give a whole number from {self.least}, or {known}"
            )
            raise UsageError(message)
        return number

    def flag(self, field: str) -> str:
        """The option for a field of this name: `--max-tokens` for `max_tokens`."""
        return f"--{self.name or field.replace('_', '-')}"


def comma_separated(texts: Sequence[str]) -> tuple[str, ...]:
    """The items of `a,b` or of an option that was given several times. Raises `UsageError`."""
    items = tuple(item.strip() for text in texts for item in text.split(",") if item.strip())
    if texts and not items:
        message = "an empty list; leave the option out to select everything"
        raise UsageError(message)
    return items
