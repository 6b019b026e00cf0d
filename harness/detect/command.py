"""What does a program of the system say? Its standard output, or nothing."""

from __future__ import annotations

import shutil
import subprocess

_TIMEOUT_S = 15


def output(*command: str) -> str | None:
    """Standard output of a command, or `None` when it is missing, fails or hangs."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        # Commands are constants of this package; the program is the one the person installed.
        done = subprocess.run(  # noqa: S603
            [program, *command[1:]],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
