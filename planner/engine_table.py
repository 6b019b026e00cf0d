"""The engines that a question can be about, as `schemas/vocabulary/engines.toml` lists them."""

import re
from fnmatch import fnmatch
from functools import cache
from typing import Literal

import msgspec

from planner.names import ModelRef
from schemas.vocabulary.documents import document, entries

OTHER = "other"


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file from which an engine reads a setting; `engines.toml` explains the keys."""

    form: Literal["ini", "yaml", "lines"]
    files: str
    example: str
    start: str


class EngineEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An engine; `engines.toml` explains the keys."""

    id: str
    label: str
    named: str
    quantisations: tuple[str, ...]
    forms: str = "(?!)"  # matches nothing
    files: str | None = None
    program: tuple[str, ...] = ()
    context: str = ""
    split: str = ""
    plain: tuple[str, ...] = ()
    note: str | None = None
    hub: str | None = None
    settings: SettingsFile | None = None

    @property
    def lines(self) -> bool:
        """Whether the words of a setting are lines of text, not arguments of a command."""
        return self.settings is not None and self.settings.form == "lines"

    def load_words(self, context: int, cards: int) -> list[str]:
        """The words for a context and a number of cards; llama.cpp's need a placement."""
        words = [f"{self.context} {context}"] if self.context else []
        words += [f"{self.split} {cards}"] if self.split and cards > 1 else []
        return words if self.lines else " ".join(words).split()

    def called(self, model: str) -> str:
        """The engine's name of a model that is a file or `-hf owner/repo:quant`."""
        reference = model.removeprefix("-hf ")
        return model if reference == model or self.hub is None else f"{self.hub}{reference}"


ENGINES = entries(EngineEntry, "engines", document("engines"))


def engine_of_file(name: str) -> str | None:
    """The first engine that reads its settings from files with such a name."""
    found = (x.id for x in ENGINES.values() if x.settings and fnmatch(name, x.settings.files))
    return next(found, None)


def engine_called(text: str) -> str | None:
    """The engine with whose label or program a text begins, such as a server's command line."""
    for each in ENGINES.values():
        if text.startswith((each.label, " ".join(each.program) or each.label)):
            return each.id
    return None


@cache
def engine_kind(name: str) -> str:
    """The id of the engine that verifies drafts as this engine or fork does, else `other`."""
    kinds = (each.id for each in ENGINES.values() if re.search(each.named, name.lower()))
    return next(kinds, OTHER)


def implied_engine(ref: ModelRef) -> str | None:
    """The engine that a model's quantisation or the kind of its file implies."""
    for each in ENGINES.values():
        if re.fullmatch(each.forms, ref.quantisation or ""):
            return each.id
    written = ref.written.lower()
    return next((x.id for x in ENGINES.values() if x.files and x.files in written), None)
