"""What is found for a name: a file, and what its name says that its header cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A GGUF file on this disk. The other fields are known for presets and hub files only."""

    path: Path
    name: str | None = None
    family: str | None = None
    repository: str | None = None
    derivation: str | None = None
