"""Start and await other processes, with limits that suffice on every machine.

A limit only ends a test whose condition can no longer become true; it is not an expectation.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import psutil
import pytest

# For tests that write a program as a script of the shell.
needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="a program of a shell")
# For tests of Linux's own folders, whose names hold colons.
needs_colons = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
PATIENCE_S = 120.0
_POLL_S = 0.02
# Chromium starts and ends processes at any time; tests that count processes ignore them.
_NOT_OURS = ("playwright", "resource_tracker")


def start_interruptible(
    command: Sequence[str], *, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a program that Ctrl-C ends even if this one was started with SIGINT ignored.

    That is so under `nohup make test &`: a child inherits what is ignored, but not a handler.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)


def eventually(condition: Callable[[], bool]) -> bool:
    """Check a condition repeatedly until it is true; return `False` at the limit."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


def lives(pid: int) -> bool:
    """Check whether a process is alive; a dead one may be in the table until it is reaped."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def all_end(pids: Iterable[int]) -> bool:
    """Check whether all these processes end."""
    left = set(pids)
    return eventually(lambda: not any(map(lives, left)))


def children() -> set[int]:
    """Living descendants of this process, except helpers of Python and the browser."""
    found: set[int] = set()
    waiting = psutil.Process().children()
    while waiting:
        child = waiting.pop()
        if lives(child.pid) and not any(word in command_line(child.pid) for word in _NOT_OURS):
            found.add(child.pid)
            waiting += _below(child)
    return found


def command_line(pid: int) -> str:
    """The arguments of a process; empty if it has ended."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.NoSuchProcess:  # a zombie has no words either
        return ""


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children()
    except psutil.NoSuchProcess:
        return []
