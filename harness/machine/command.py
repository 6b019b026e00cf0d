"""Run system programs and our own modules, and explain how a child process died."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from harness import INSTALLED

# Only a hung driver takes longer than this many seconds.
_LIMIT_S = 8.0
_KILLED_S = 1.0
# Programs that hung are not run again: every snapshot would wait for them.
_hung: set[str] = set()


def output(*command: str, variables: Mapping[str, str] | None = None) -> str | None:
    """Return a command's output; `None` if the command is missing, fails, hangs or has hung."""
    program = shutil.which(command[0])
    if program is None or program in _hung:
        return None
    try:
        # Commands are constants of this package; the user installed the program.
        process = subprocess.Popen(  # noqa: S603
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env={**os.environ, **(variables or {})},
        )
    except OSError:
        return None
    with process.stdout:  # type: ignore[union-attr]  # a pipe, as asked
        try:
            text, _ = process.communicate(timeout=_LIMIT_S)
        except subprocess.TimeoutExpired:
            _hung.add(program)
            process.kill()
            with suppress(subprocess.TimeoutExpired):  # a kill has to wait for the driver
                process.wait(_KILLED_S)
            return None
    return text if process.returncode == 0 else None


def failure(command: Sequence[str], *, limit_s: float) -> str | None:
    """Run a command; return the signal, last line of stderr, exit code or timeout if it failed."""
    try:
        # The commands consist of our own modules, constants, and paths in our cache.
        done = subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {limit_s:g} s; is the machine overloaded?"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return death(done.returncode) or (lines or [f"exit code {done.returncode}"])[-1]


def own_module(name: str) -> list[str]:
    """Return the command that starts one of our own modules, installed or in a checkout."""
    if INSTALLED:  # -P: not from the current folder, which may be a checkout
        return [sys.executable, "-P", "-m", f"draftmap.{name}"]
    return [sys.executable, "-m", name]


def death(returncode: int) -> str | None:
    """Return `killed by SIGSEGV` for the exit code of a child that a signal ended, else `None`.

    Windows has no signals: a crash there ends with a status of 0xC0000000 or above.
    """
    if returncode < 0:
        number = -returncode
        known = number in set(signal.Signals)
        return f"killed by {signal.Signals(number).name if known else f'signal {number}'}"
    if returncode >= 0xC0000000:  # noqa: PLR2004 - explained above
        return f"crashed with status {returncode:#x}"
    return None
