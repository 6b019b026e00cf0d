"""A model's file and description, as the harness passes them around."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from harness.errors import BadInputError
from planner.presets import Preset
from schemas.submission import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """Weights and the known facts about them.

    `path` is `None` for a model that only a server has.
    """

    path: Path | None
    model: Model

    @property
    def on_disk(self) -> Path:
        """The path of the file. Raises `BadInputError` if only a server has the model."""
        if self.path is None:
            raise BadInputError(
                f"the weights of {self.model.name} are not on this disk; name a GGUF file"
            )
        return self.path

    @property
    def is_here(self) -> bool:
        """Whether the weights are a file on this disk."""
        return self.path is not None and self.path.is_file()


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsFile:
    """A GGUF file on this disk.

    All fields except the path are known for presets and hub files only.
    """

    path: Path
    name: str | None = None
    family: str | None = None
    repository: str | None = None
    derivation: str | None = None

    @classmethod
    def of_preset(cls, path: Path, preset: Preset) -> Self:
        """Return a preset's file, with the model's name and family from the table of presets."""
        return cls(
            path=path,
            name=preset.model,
            family=preset.family,
            repository=preset.repository,
            derivation=preset.derivation,
        )


class ServedModels(Protocol):
    """Finds models that servers have loaded; `None` for a name that is a file on this disk."""

    def target(self, name: str | None) -> ModelFile | None:
        """Return the target by name, or the model that the baseline's server offers."""
        ...

    def draft(self, name: str) -> ModelFile | None: ...
