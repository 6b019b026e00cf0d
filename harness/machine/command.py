"""Runs programs of the system, and explains how a child process died."""

import re
import shutil
import signal
import subprocess
from importlib import metadata
from pathlib import Path

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


def death(returncode: int) -> str | None:
    """`killed by SIGSEGV` for the code of a child that a signal ended, else `None`.

    Windows has no signals: there a crash ends with a status from 0xC0000000 up.
    """
    if returncode < 0:
        number = -returncode
        known = number in set(signal.Signals)
        return f"killed by {signal.Signals(number).name if known else f'signal {number}'}"
    if returncode >= 0xC0000000:  # noqa: PLR2004 - explained above
        return f"crashed with status {returncode:#x}"
    return None


PACKAGE = "llama-cpp-python"
_VENDORED_COMMITS = {"0.3.36": "0c1e57098"}


def package_version() -> str | None:
    """The installed version of the binding, or `None` when there is none."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def vendored_commit(version: str | None) -> str | None:
    """The commit of llama.cpp inside a version of the binding, where it is known."""
    return _VENDORED_COMMITS.get(version or "")


_ROOT = Path(__file__).parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def commit(root: Path = _ROOT) -> str | None:
    """The commit that is checked out, or `None` outside a checkout and for an installed package."""
    if not (root / ".git").exists():
        return None
    found = (output("git", "-C", str(root), "rev-parse", "HEAD") or "").strip()
    return found if _COMMIT.fullmatch(found) else None
