"""How does one file of weights become a family? Other quantisations, or fewer layers, made here.

The engine does the work in a child process: engine code may crash, and must not take us with it.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from harness import cache
from harness.errors import MachineError
from harness.signals import death

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_TIMEOUT_S = 1800


def derive(  # noqa: PLR0913 - what to make, from what, how large, and whom to tell
    source: Path,
    name: str,
    *,
    quantisation: str,
    pruned_layers: Sequence[int] = (),
    expected_bytes: int,
    say: Callable[[str], None],
) -> Path:
    """The file `name` in the cache, made from `source` on the first call.

    Raises `MachineError` when the disk is full or the engine fails.
    """
    path = cache.directory() / name
    if path.is_file():
        return path
    with cache.only_one(name):
        if path.is_file():
            return path
        cache.require_space(expected_bytes, name)
        say(f"Making {name} from {source.name} …")
        with cache.written(path) as part:
            _quantise(source, part, quantisation, pruned_layers)
    return path


def _quantise(source: Path, destination: Path, quantisation: str, pruned: Sequence[int]) -> None:
    command = [sys.executable, "-m", "harness.models.quantise", str(source), str(destination)]
    command += [quantisation, *map(str, pruned)]
    try:
        # Our own module, with paths of our own cache.
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"making {quantisation} took more than {_TIMEOUT_S} s; is the machine overloaded?"
        raise MachineError(message) from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = death(done.returncode) or (lines[-1] if lines else "no reason given")
        message = f"{quantisation} could not be made ({reason}); run `python -m harness doctor`"
        raise MachineError(message)
