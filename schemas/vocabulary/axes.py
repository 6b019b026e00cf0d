"""Read the axes by name, as `axes.toml` describes them."""

from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct

from schemas.submission import Axes
from schemas.vocabulary.documents import document, entries
from schemas.vocabulary.say import count

ALL_LAYERS = -1


class Axis(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A setting that distinguishes results; `axes.toml` explains the keys."""

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
    needs: str | None = None
    mixtures: bool = False
    default: str | int | None = None
    identity: bool = True
    words: str | None = None
    server: tuple[str, ...] = ()
    server_all: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    imported: str | None = None

    def value(self, settings: object) -> Any:  # noqa: ANN401 - of the axis' type
        """The value of this axis in settings or in the options of a run."""
        return getattr(settings, self.id)

    def non_default(self, settings: object) -> Any:  # noqa: ANN401 - of the axis' type
        """The value, or `None` if it is the default, unset or unknown."""
        value = self.value(settings)
        return None if value == self.default else value or None

    def is_all(self, value: object) -> bool:
        """Whether a number of layers means all of them."""
        return bool(self.server_all) and value == ALL_LAYERS

    def flags(self, value: Any) -> list[str]:  # noqa: ANN401 - of the axis' type
        """The arguments that request this value from `draftmap run`."""
        if self.type == "texts":
            return [f"--{self.option}={each}" for each in value]
        return [f"--{self.option}", "all" if self.is_all(value) else str(value)]

    def named(self, value: Any) -> str | None:  # noqa: ANN401 - of the axis' type
        """The value as words in a cell's name; `None` for an axis that is named elsewhere."""
        return None if self.words is None else self.words.format(self.spelled(value))

    def spelled(self, value: Any) -> str:  # noqa: ANN401 - of the axis' type
        """The value for readers: `row`, `3 layers`."""
        if self.type == "texts":
            return ", ".join(value)
        if self.is_all(value):
            return "all layers"
        if self.unit and not self.unit.endswith("s"):
            return f"{value:,} {self.unit}"
        return count(value, self.unit.removesuffix("s")) if self.unit else str(value)


AXES = entries(Axis, "axes", document("axes"))
_HINTS = get_type_hints(Axes)


def choices(axis: Axis) -> tuple[str, ...]:
    """The strings that an axis accepts: its `choices`, else the format's; empty for any string."""
    members = get_args(_HINTS.get(axis.id))
    return axis.choices or next((get_args(it) for it in members if get_origin(it) is Literal), ())
