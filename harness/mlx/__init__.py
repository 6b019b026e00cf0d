"""The runner for MLX: `mlx_lm` without a server, with its own speculative loop."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from harness import files, install
from harness.campaign.model import Campaign
from harness.errors import BadInputError, MachineError
from harness.models.folder import describe_folder, fetched_folder, is_model_folder
from harness.models.model_file import ModelFile
from harness.runners.base import Adapter, Session
from harness.runners.isolated import IsolatedSession
from harness.runners.options import ConnectionOptions

_INSTALL = f"install it with: {install('mlx')}"
_MODEL = (
    "a folder with config.json and safetensors, or a repository such as mlx-community/Qwen3-4B-4bit"
)


def connect(options: ConnectionOptions) -> Adapter:
    """Return an adapter that runs the engine in a child process.

    Raises `MachineError` if the engine is not installed.
    """
    if find_spec("mlx_lm") is None:
        raise MachineError(f"mlx-lm is not installed; {_INSTALL}")
    limit_s = options.answer_limit_s
    return Adapter(
        open=partial(IsolatedSession, open_mlx, answer_limit_s=limit_s), served=MlxModels
    )


def open_mlx(campaign: Campaign) -> Session:
    """Load the target in the calling process. Raises `HarnessError`."""
    try:
        # The import loads the engine, so only the process that runs the engine imports it.
        from harness.mlx.session import MlxSession  # noqa: PLC0415
    except (ImportError, OSError) as error:  # on Linux, mlx is the binding and mlx-cpu the engine
        raise MachineError(f"mlx-lm cannot be loaded ({error}); {_INSTALL}") from error
    return MlxSession(campaign)


@dataclass(frozen=True, slots=True)
class MlxModels:
    """Finds the models that `mlx_lm` can load: folders, and repositories on the hub."""

    say: Callable[[str], None]

    def target(self, name: str | None) -> ModelFile:
        if name is None:
            raise BadInputError(f"name an MLX model with --target: {_MODEL}")
        return self.draft(name)

    def draft(self, name: str) -> ModelFile:
        """Return a model by name, fetched if necessary.

        Raises `HarnessError` if the name is unknown.
        """
        path = files.expanded(name)
        if not is_model_folder(path):
            if path.exists() or name.count("/") != 1 or name.startswith("/"):
                raise BadInputError(f"{name} is not an MLX model; give {_MODEL}")
            path = fetched_folder(name, say=self.say)
        return ModelFile(path=path, model=describe_folder(path))
