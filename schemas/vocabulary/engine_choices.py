"""Find the method that measures an engine's way to draft, or the reason why none does."""

from collections.abc import Mapping

from msgspec import Struct

from schemas.vocabulary.documents import document, entries
from schemas.vocabulary.method_table import METHODS


class EngineChoices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An engine's ways to draft; `engine_choices.toml` explains the keys."""

    id: str
    option: str
    same: Mapping[str, str] = {}
    refused: Mapping[str, str] = {}


CHOICES = entries(EngineChoices, "engine_choices", document("engine_choices"))


def measured_as(engine: str, choice: str) -> frozenset[str]:
    """The ids of the methods that measure a choice of an engine; empty if none does."""
    named = CHOICES[engine].same.get(choice)
    if engine == "vLLM" and choice.endswith("_mtp"):
        choice = "mtp"  # one name for each family of models
    found = (each.id for each in METHODS.values() if choice in _names(engine, each.id))
    return frozenset((*found, *([named] if named else [])))


def _names(engine: str, method: str) -> tuple[str | None, ...]:
    entry, option = METHODS[method], CHOICES[engine].option
    served = (each.split() for each in entry.served.get(engine.lower(), ()))
    return (
        *(entry.llama_cpp.types if entry.llama_cpp and engine == "llama.cpp" else ()),
        entry.ik_llama_cpp.type if entry.ik_llama_cpp and engine == "ik_llama.cpp" else None,
        entry.vllm.method if entry.vllm and engine == "vLLM" else None,
        *(words[1] for words in served if words[0] == option),
    )
