"""The axes by name, as `axes.toml` describes them."""

from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct

from schemas.axes import Axes
from schemas.vocabulary.documents import document, entries
from schemas.vocabulary.say import count


class Switch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An option without a value that stands for one value of its axis."""

    option: str
    help: str
    value: int
    words: str
    server: tuple[str, ...] = ()


class Axis(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A setting that makes a result one of its own; `axes.toml` says what each key means."""

    id: str
    type: Literal["integer", "number", "text", "texts"]
    label: str
    option: str
    help: str
    metavar: str
    panel: str
    unit: str | None = None
    least: int | float | None = None
    most: int | float | None = None
    choices: tuple[str, ...] = ()
    switch: Switch | None = None
    needs: str | None = None
    usual: str | int | None = None
    identity: bool = True
    words: str | None = None
    server: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    imported: str | None = None

    def value(self, settings: object) -> Any:  # noqa: ANN401 - of the axis' type
        """What settings, or the options of a run, say of this axis."""
        return getattr(settings, self.id)

    def unusual(self, settings: object) -> Any:  # noqa: ANN401 - of the axis' type
        """The value, or `None` where it is the usual one, nothing, or not known."""
        value = self.value(settings)
        return None if value == self.usual else value or None

    def is_switched(self, value: object) -> bool:
        """Whether the value is the one that the switch stands for."""
        return self.switch is not None and value == self.switch.value

    def flags(self, value: Any) -> list[str]:  # noqa: ANN401 - of the axis' type
        """The words with which `draftmap run` is asked for this value."""
        if self.switch is not None and self.is_switched(value):
            return [f"--{self.switch.option}"]
        if self.type == "texts":
            return [f"--{self.option}='{each}'" for each in value]
        return [f"--{self.option} {value}"]

    def named(self, value: Any) -> str | None:  # noqa: ANN401 - of the axis' type
        """The value in the words of a cell's name; `None` for an axis that is named otherwise."""
        return None if self.words is None else self.words.format(self.spelled(value))

    def spelled(self, value: Any) -> str:  # noqa: ANN401 - of the axis' type
        """The value for readers: `row`, `3 layers`."""
        if self.type == "texts":
            return ", ".join(value)
        if self.switch is not None and self.is_switched(value):
            return self.switch.words
        return count(value, self.unit.removesuffix("s")) if self.unit else str(value)


AXES = entries(Axis, "axes", document("axes"))
_HINTS = get_type_hints(Axes)


def choices(axis: Axis) -> tuple[str, ...]:
    """The texts that an axis takes: its own list, else the format's; none where any will do."""
    members = get_args(_HINTS.get(axis.id))
    return axis.choices or next((get_args(it) for it in members if get_origin(it) is Literal), ())
