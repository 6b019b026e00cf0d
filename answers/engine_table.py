"""The engines that a question can be about, as `schemas/vocabulary/engines.toml` lists them."""

import re
from functools import cache

import msgspec

from answers.names import ModelRef
from schemas.vocabulary.documents import document, entries

OTHER = "other"


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
    note: str | None = None

    def load_words(self, context: int, cards: int) -> list[str]:
        """The arguments for a context and a number of cards; llama.cpp's need a placement."""
        words = [self.context, str(context)] if self.context else []
        return [*words, self.split, str(cards)] if self.split and cards > 1 else words


ENGINES = entries(EngineEntry, "engines", document("engines"))


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
