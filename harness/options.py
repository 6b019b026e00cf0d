"""Describes command-line options next to the dataclass fields that they fill.

A field `blocks: int | None = option("How often …")` becomes `--blocks`; a field with a plain
default gets no option.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, NamedTuple

from harness.errors import BadInputError


class Unit(NamedTuple):
    """A unit: the factor by which each suffix scales a number, and example values for messages."""

    factors: Mapping[str, float]
    such: str


# The unit of an option, by its metavar.
UNITS: Mapping[str, Unit] = {
    "MINUTES": Unit({"": 1, "m": 1, "min": 1, "h": 60, "s": 1 / 60}, "10, 90s or 2h"),
    "SECONDS": Unit({"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}, "30, 2m or 1h"),
    "GIB": Unit({"": 1, "g": 1, "gb": 1, "gib": 1, "mb": 1 / 1024, "mib": 1 / 1024}, "32 or 32GB"),
    "MIB": Unit({"": 1, "m": 1, "mb": 1, "mib": 1, "gb": 1024, "gib": 1024}, "1024 or 1GB"),
    "TOKENS": Unit({"": 1, "k": 1024}, "8192 or 8k"),
    "FRACTION": Unit({"": 1, "%": 0.01}, "0.03 or 3%"),
}
_PLAIN = Unit({"": 1}, "")
_MOST, _DIGITS = 1e12, 12  # numbers and digits beyond these are typing mistakes
_AMOUNT = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z%]*)")


@dataclass(frozen=True, slots=True)
class Option:
    """A field's command-line option: its help text, and what its name and type do not show.

    An `argument` may be given without its flag; a `usual` option is listed in the short help. An
    option with `choices` accepts only these values; the examples in `such` replace the unit's own
    examples. `parse` converts the string to the field's value. If the field is a tuple, the option
    may be repeated, and `parse` gets all strings.
    """

    help: str
    name: str | None = None
    short: str | None = None
    metavar: str | None = None
    panel: str | None = None
    argument: bool = False
    usual: bool = False
    such: str | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    parse: Callable[[Any], Any] | None = None

    def chosen(self, field: str, text: str) -> str:
        """Return the given value if it is one of the choices. Raises `BadInputError` otherwise."""
        if text not in self.choices:
            known = ", ".join(self.choices[:-1])
            raise BadInputError(
                f"{self.flag(field)} {text}: unknown value; give {known} or {self.choices[-1]}"
            )
        return text

    def number(self, field: str, text: str, *, whole: bool) -> float:
        """Parse a number, converting it to the option's unit if it has a suffix.

        Raises `BadInputError` if it is not a number within the option's bounds.
        """
        unit = UNITS.get(self.metavar or "", _PLAIN)
        match = _AMOUNT.fullmatch(text.strip().lower())
        value = None
        if match and match[2] in unit.factors:
            value = round(float(match[1]) * unit.factors[match[2]], 12)  # 3 % is 0.03
        low = -math.inf if self.least is None else self.least
        high = _MOST if self.most is None else self.most
        if value is None or not low <= value <= high or (whole and value % 1):
            unknown = match[2] if match and value is None and unit is not _PLAIN else ""
            raise BadInputError(
                f"{self.flag(field)} {text}: {self._expected(unit, unknown, whole=whole)}"
            )
        return int(value) if whole else value

    def _expected(self, unit: Unit, unknown: str, *, whole: bool) -> str:
        """Say what a number must be; one in an `unknown` unit may be within the bounds."""
        kind = "a whole number" if whole else "a number"
        kind += f" of {self.metavar.lower()}" if self.metavar in ("MINUTES", "SECONDS") else ""
        ends = (" from ", self.least), (" to ", self.most)
        within = "".join(f"{word}{end:,}" for word, end in ends if end is not None)
        examples = self.such or unit.such
        such = f", such as {examples}" if examples else ""
        given = f"give {kind}{'' if unknown else within}{such}"
        return f"unknown unit {unknown}; {given}" if unknown else given

    def flag(self, field: str) -> str:
        """Return the flag for a field's name: `--max-tokens` for `max_tokens`."""
        return f"--{self.name or field.replace('_', '-')}"


REQUIRED: Any = MISSING  # marks an option that must be given


def offered(option: Option, *, default: Any = None) -> Any:  # noqa: ANN401 - the default of a field of any type
    """Return a dataclass field that becomes the given command-line option."""
    return field(default=default, metadata={"option": option})


def option(help: str, *, default: Any = None, **described: Any) -> Any:  # noqa: A002, ANN401 - see above
    """Return a dataclass field that becomes a command-line option with this help text."""
    return offered(Option(help, **described), default=default)


def comma_separated(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the items of a list such as `a,b`, or of a repeated option.

    Raises `BadInputError` if the option is given without any item.
    """
    items = tuple(item.strip() for text in texts for item in text.split(",") if item.strip())
    if texts and not items:
        raise BadInputError("the list is empty; leave the option out to select everything")
    return items


def whole_numbers(
    texts: Sequence[str], *, option: str, least: float, most: float, such: str
) -> tuple[int, ...]:
    """Return the numbers in a comma-separated list, in ascending order and without duplicates.

    Raises `BadInputError`, with the examples `such`, unless all items are whole numbers from
    `least` to `most`.
    """
    items = comma_separated(texts)
    counts = (count for item in items if (count := count_in(item)) is not None)
    numbers = [count for count in counts if least <= count <= most]
    if len(numbers) < len(items):
        raise BadInputError(
            f"--{option} {','.join(texts)}: give whole numbers from {least:,} to {most:,}, such "
            f"as {such}"
        )
    return tuple(sorted({*numbers}))


def number_or_all(text: str, *, option: str, least: float = 0, most: float) -> int:
    """Return a number of layers, -1 for `all`, as in llama.cpp. Raises `BadInputError`."""
    if text.lower() == "all" or (text == "-1" and least == 0):
        return -1
    number = count_in(text)
    if number is None or not least <= number <= most:
        bounds = f"from {least:g} to {most:,g}"
        raise BadInputError(f"--{option} {text}: give a whole number {bounds}, or all")
    return number


def count_in(text: str) -> int | None:
    """Return the whole number that a text consists of; `None` if it is not one, or too long."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None
