"""The in-process runner: llama.cpp through the low-level interface of llama-cpp-python."""

from functools import partial

from harness.campaign.model import Campaign
from harness.errors import MachineError
from harness.machine.engines import PACKAGE, package_version
from harness.runners.base import Adapter, Session
from harness.runners.device_placement import backend_named
from harness.runners.devices import listed_by_child
from harness.runners.isolated import IsolatedSession
from harness.runners.options import ConnectionOptions
from schemas.rig import LLAMA_CPP
from schemas.submission import Engine


def connect(options: ConnectionOptions) -> Adapter:
    """Return the adapter, which runs the engine in a child process to survive its crashes."""
    limit_s = options.answer_limit_s
    return Adapter(
        open=partial(IsolatedSession, open_in_process, answer_limit_s=limit_s), seen=_seen
    )


def _seen(campaign: Campaign) -> Engine | None:
    devices = listed_by_child()
    if devices is None:
        return None
    backend = backend_named(devices, gpu_layers=campaign.settings.gpu_layers)
    version = package_version()
    return Engine(runner=PACKAGE, name=LLAMA_CPP, version=version, backend=backend, devices=devices)


def open_in_process(campaign: Campaign) -> Session:
    """Load the target in the calling process. Raises `HarnessError`."""
    try:
        # Importing the binding loads the engine, so only the process that runs the engine imports
        # it.
        from harness.runners.inprocess.session import LlamaSession  # noqa: PLC0415
    except (ImportError, OSError, RuntimeError) as error:
        raise MachineError(
            f"llama-cpp-python cannot be loaded ({error}); "
            "install it with: CMAKE_ARGS=-DGGML_NATIVE=OFF pip install llama-cpp-python"
        ) from error
    return LlamaSession(campaign)
