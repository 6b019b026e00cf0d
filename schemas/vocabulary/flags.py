"""Read the flags by name, as `flags.toml` describes them: severity, bounds and words."""

from collections.abc import Mapping
from string import Formatter
from typing import Any, Literal

from msgspec import Struct

from schemas.vocabulary import say
from schemas.vocabulary.documents import document, entries

# serious: a figure may not mean what it seems to mean. caution: the figure is less certain than it
# looks. note: a fact to know about the campaign.
Severity = Literal["serious", "caution", "note"]


class FlagCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Severity and texts for one case of a flag, in place of the flag's own; `docs` is added."""

    severity: Severity | None = None
    docs: str | None = None
    message: str | None = None
    remedy: str | None = None


class FlagEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One flag; `flags.toml` explains the keys."""

    id: str
    severity: Severity
    docs: str
    message: str = ""
    remedy: str = ""
    passes: bool = False
    bounds: Mapping[str, float] = {}
    cases: Mapping[str, FlagCase] = {}

    def explanation(self) -> str:
        """The meaning of the flag and of its cases, in sentences with its bounds."""
        cases = (case.docs for case in self.cases.values())
        return filled(" ".join(filter(None, (self.docs, *cases))), self.bounds)


def filled(text: str, values: Mapping[str, object]) -> str:
    """A text from `flags.toml`, in which values replace the names in braces."""
    return _WORDS.vformat(text, (), values)


class _FlagWords(Formatter):
    """Python's formatting plus our own formats: `{share:percent 1}`, `{trials:count trial}`."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - any value
        match format_spec.split(" ", 1):
            case ["percent", *digits]:
                return say.percent(value, *map(int, digits))
            case ["times"]:
                return say.times(value)
            case ["list"]:
                return say.listed(value)
            case ["count", noun]:
                return say.count(value, noun)
        return str(super().format_field(value, format_spec))


_WORDS = _FlagWords()
FLAGS = entries(FlagEntry, "flags", document("flags"))
