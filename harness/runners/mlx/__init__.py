"""The runner for MLX: `mlx_lm` in-process, with its own speculative loop."""

from functools import partial
from importlib.util import find_spec

from harness.campaign.model import Campaign
from harness.errors import MachineError
from harness.runners.base import Adapter, Session
from harness.runners.isolated import IsolatedSession
from harness.runners.mlx.folders import MlxModels
from harness.runners.options import ConnectionOptions

_INSTALL = "install it with: pip install 'draftmap[mlx]'"


def connect(options: ConnectionOptions) -> Adapter:
    """The engine in a child process. Raises `MachineError` where it is not installed."""
    if find_spec("mlx_lm") is None:
        message = f"mlx-lm is not installed; {_INSTALL}"
        raise MachineError(message)
    limit_s = options.answer_limit_s
    return Adapter(
        open=partial(IsolatedSession, open_mlx, answer_limit_s=limit_s), served=MlxModels
    )


def open_mlx(campaign: Campaign) -> Session:
    """Load the target in the process that calls this. Raises `HarnessError`."""
    try:
        # The import loads the engine; only the process that runs it should.
        from harness.runners.mlx.session import MlxSession  # noqa: PLC0415
    except (ImportError, OSError) as error:
        # On Linux, mlx is the binding and mlx-cpu the engine.
        message = f"mlx-lm cannot be loaded ({error}); {_INSTALL}"
        raise MachineError(message) from error
    return MlxSession(campaign)
