"""A small process that briefly outlives the harness and ends its server if the harness is killed.

A killed process cannot clean up: its server would occupy memory, a port and a log folder
indefinitely. The guard reads a pipe from the harness; if the pipe closes without a message, the
harness has died.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

# For `Popen`: keeps Ctrl-C from the child on Windows, which ignores `start_new_session`.
NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_ENDED = b"ended"
_TERMINATION_S = 5.0
_POLL_S = 0.05


class Guard:
    """Starts and stops the process that ends one server if this program is killed."""

    def __init__(self, server_pid: int, *, folder: str) -> None:
        """Start the guard; `folder` contains the server's log."""
        # The guard imports only the standard library, so it starts within milliseconds.
        self._process = subprocess.Popen(  # noqa: S603 - this file, with our own interpreter
            [sys.executable, "-I", "-S", __file__, str(server_pid), folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=NEW_GROUP,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def dismiss(self) -> None:
        """End the guard, because the server has ended."""
        with suppress(BrokenPipeError):
            self._process.communicate(_ENDED)


def _main() -> None:
    if sys.stdin.buffer.read() == _ENDED:
        return
    group = int(sys.argv[1])
    until = time.monotonic() + _TERMINATION_S
    with suppress(ProcessLookupError):
        _end(group, "SIGTERM")
        while time.monotonic() < until:
            time.sleep(_POLL_S)
            _end(group, "0")
        _end(group, "SIGKILL")
    shutil.rmtree(sys.argv[2], ignore_errors=True)


def _end(group: int, how: str) -> None:
    """Send a signal to the server and its children; `0` only checks whether any of them remains."""
    if os.name == "posix":
        os.killpg(group, 0 if how == "0" else getattr(signal, how))
    elif how == "SIGTERM":  # Windows has no groups: this call ends the server and its children
        command = ["taskkill", "/F", "/T", "/PID", str(group)]
        with suppress(OSError):
            subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - Windows' own


if __name__ == "__main__":
    _main()
