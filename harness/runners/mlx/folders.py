"""Find the folders of MLX models: on this disk, or in a repository of the hub."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BadInputError
from harness.models.folder import describe_folder, fetched_folder, is_model_folder
from harness.models.model_file import ModelFile

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_WHAT = (
    "a folder with config.json and safetensors, or owner/repo such as mlx-community/Qwen3-4B-4bit"
)


@dataclass(frozen=True, slots=True)
class MlxModels:
    """Models as `mlx_lm` loads them."""

    say: Callable[[str], None]

    def target(self, name: str | None) -> ModelFile:
        """The target by its name. Raises `BadInputError` for what is no such model."""
        if name is None:
            message = f"name an MLX model with --target: {_WHAT}"
            raise BadInputError(message)
        return self.draft(name)

    def draft(self, name: str) -> ModelFile:
        """A draft by its name; of the hub it is fetched first."""
        path = Path(name).expanduser()
        if not is_model_folder(path):
            if path.exists() or not _HUB_NAME.fullmatch(name):
                message = f"{name} is no MLX model; give {_WHAT}"
                raise BadInputError(message)
            path = fetched_folder(name, say=self.say)
        return ModelFile(path=path, model=describe_folder(path))
