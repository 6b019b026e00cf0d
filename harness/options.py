"""Describes command-line options next to the dataclass fields that they fill.

A field `blocks: int | None = option("How often …")` is offered as `--blocks`; others are not.
"""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any

from harness.errors import UsageError
from schemas.vocabulary.axes import Switch


@dataclass(frozen=True, slots=True)
class Option:
    """How a field is offered: its help text, and what the field's name and type do not show.

    One with `choices` takes these texts only. A `switch` is a second option of the field, without a
    value. `parse` makes the value of the text; of all the texts where the field is a tuple, whose
    option may be given several times.
    """

    help: str
    name: str | None = None
    short: str | None = None
    metavar: str | None = None
    panel: str | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    switch: Switch | None = None
    parse: Callable[[Any], Any] | None = None

    def chosen(self, field: str, text: str) -> str:
        """The text, which is one of the choices. Raises `UsageError`."""
        if text not in self.choices:
            known = ", ".join(self.choices[:-1])
            message = f"{self.flag(field)} {text}: not known; give {known} or {self.choices[-1]}"
            raise UsageError(message)
        return text

    def switched(self, field: str, given: Any, *, on: bool) -> Any:  # noqa: ANN401 - of the field's type
        """What the option and its switch together give. Raises `UsageError` for both."""
        if self.switch is None or not on:
            return given
        if given is not None:
            message = (
                f"--{self.switch.option} and {self.flag(field)} exclude each other; leave one out"
            )
            raise UsageError(message)
        return self.switch.value

    def flag(self, field: str) -> str:
        """The option for a field of this name: `--max-tokens` for `max_tokens`."""
        return f"--{self.name or field.replace('_', '-')}"


REQUIRED: Any = MISSING  # as the default of an option that must be given


def offered(option: Option, *, default: Any = None) -> Any:  # noqa: ANN401 - the default of a field of any type
    """What a field is set to that is offered as this option."""
    return field(default=default, metadata={"option": option})


def option(help: str, *, default: Any = None, **described: Any) -> Any:  # noqa: A002, ANN401 - see above
    """What a field is set to that is offered with this help, and with the fields of `Option`."""
    return offered(Option(help, **described), default=default)


def comma_separated(texts: Sequence[str]) -> tuple[str, ...]:
    """The items of `a,b` or of an option that was given several times. Raises `UsageError`."""
    items = tuple(item.strip() for text in texts for item in text.split(",") if item.strip())
    if texts and not items:
        message = "an empty list; leave the option out to select everything"
        raise UsageError(message)
    return items


def whole_numbers(
    texts: Sequence[str], *, option: str, least: float, most: float, such: str
) -> tuple[int, ...]:
    """The numbers of a list, each once, in ascending order. Raises `UsageError`."""
    items = comma_separated(texts)
    if not all(item.isdecimal() and least <= int(item) <= most for item in items):
        message = (
            f"--{option} {','.join(texts)}: give whole numbers from {least:g} on, such as {such}"
        )
        raise UsageError(message)
    return tuple(sorted({int(item) for item in items}))
