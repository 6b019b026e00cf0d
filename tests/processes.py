"""How do tests wait for other processes? For what must happen, and longer than any machine needs.

A limit here is never a measure: it only ends a test whose condition will not come true any more.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PATIENCE_S = 120.0
_POLL_S = 0.02
# Chromium's processes come and go as it likes, and belong to no test that counts processes.
_NOT_OURS = ("playwright", "resource_tracker")


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true; asked again and again until it does."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


def lives(pid: int) -> bool:
    """Whether a process computes or waits. A dead one may stand in the table until it is reaped."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def all_end(pids: Iterable[int]) -> bool:
    """Whether all these processes end."""
    left = set(pids)
    return eventually(lambda: not any(map(lives, left)))


def children() -> set[int]:
    """The processes below this one that live, but for those that Python and the browser keep."""
    found: set[int] = set()
    waiting = psutil.Process().children()
    while waiting:
        child = waiting.pop()
        if lives(child.pid) and not any(word in command_line(child.pid) for word in _NOT_OURS):
            found.add(child.pid)
            waiting += _below(child)
    return found


def command_line(pid: int) -> str:
    """The words with which a process was started; none of one that is gone."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.NoSuchProcess:  # a zombie has no words either
        return ""


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children()
    except psutil.NoSuchProcess:
        return []
