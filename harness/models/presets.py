"""Which models have a name? The table in `harness/presets.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

DEFAULT_TARGET = "smollm2-135m:f16"
DEFAULT_DRAFT = "smollm2-135m:q4_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A named model: from a hub repository, or derived from the embedded weights.

    Two presets of one `vocabulary` can draft for each other. `draft` names the one to use.
    """

    name: str
    model: str
    family: str
    vocabulary: str
    quantisation: str
    size_mb: int
    repository: str | None = None
    draft: str | None = None
    pruned_layers: tuple[int, ...] = ()


@cache
def presets() -> dict[str, Preset]:
    """All presets by name, in the table's order."""
    text = resources.files("harness").joinpath("presets.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)["presets"]
    listed = [
        Preset(**{**entry, "pruned_layers": tuple(entry.get("pruned_layers", ()))})
        for entry in entries
    ]
    return {preset.name: preset for preset in listed}
