"""Does a server end with the harness that started it, however that ends?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.runners.server import process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

SLEEPER = "import time; time.sleep(60)"
# Deaf to the kind signal, with a child of its own that is deaf, too.
STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "os.fork(); time.sleep(60)"
)
HARNESS = """
import sys, time
from pathlib import Path
from harness.runners.server import process
server = process.start(Path(sys.executable), ["-c", sys.argv[1]], port=1)
print(server.pid, flush=True)
time.sleep(60)
"""


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def gone(group: int, within_s: float) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if not group_lives(group):
            return True
        time.sleep(0.02)
    return False


def test_a_server_ends_when_its_harness_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, SLEEPER], stdout=subprocess.PIPE, text=True
    ) as harness:
        assert harness.stdout is not None
        server = int(harness.stdout.readline())
        assert group_lives(server)
        harness.send_signal(signal.SIGKILL)
        harness.wait()

    assert gone(server, within_s=10)


def test_a_stubborn_server_and_its_children_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_END_LIMIT_S", 0.2)
    server = process.start(Path(sys.executable), ["-c", STUBBORN], port=1)
    time.sleep(0.3)

    server.end()

    assert gone(server.pid, within_s=5)


def test_the_guard_goes_when_the_server_was_ended() -> None:
    server = process.start(Path(sys.executable), ["-c", SLEEPER], port=1)
    guard = server._guard.pid  # noqa: SLF001 - nobody else has reason to ask

    assert group_lives(guard)
    server.end()

    assert not group_lives(guard)
