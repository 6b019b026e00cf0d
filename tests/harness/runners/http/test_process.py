"""A server ends with its harness, in every case, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.runners.http import guard, process
from tests.processes import PATIENCE_S, eventually, lives

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

ROOT = Path(__file__).parents[4]
SLEEPER = "import time; time.sleep(600)"
# Ignores SIGTERM, and has a child that ignores it too.
STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "os.fork(); print('deaf', flush=True); time.sleep(600)"
)
HARNESS = """
import sys, time
from pathlib import Path
from harness.runners.http import process
server = process.start(Path(sys.executable), ["-c", sys.argv[1]], port=1)
print(server.pid, server._folder.name, flush=True)
time.sleep(600)
"""


def group_lives(group: int) -> bool:
    return any(_group_of(pid) == group and lives(pid) for pid in psutil.pids())


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def gone(group: int) -> bool:
    return eventually(lambda: not group_lives(group))


def test_a_server_ends_when_its_harness_is_killed_and_its_log_is_removed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, SLEEPER], stdout=subprocess.PIPE, text=True
    ) as harness:
        assert harness.stdout is not None
        pid, folder = harness.stdout.readline().split()
        server = int(pid)
        assert group_lives(server)
        assert Path(folder, "log").is_file()
        harness.send_signal(signal.SIGKILL)
        harness.wait()

    assert gone(server)
    assert eventually(lambda: not Path(folder).exists())


def test_a_stubborn_server_and_its_children_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_END_LIMIT_S", 0.2)
    server = process.start(Path(sys.executable), ["-c", STUBBORN], port=1)
    assert eventually(lambda: server.log().count("deaf") == 2)

    server.end()

    assert gone(server.pid)


def test_child_processes_of_a_server_end_without_process_groups_too() -> None:
    server = process.start(Path(sys.executable), ["-c", STUBBORN], port=1)
    assert eventually(lambda: server.log().count("deaf") == 2)

    process._end_tree(server.pid)  # noqa: SLF001 - what Windows gets, which has no groups

    assert gone(server.pid)
    server.end()


def test_ctrl_c_in_a_console_of_windows_reaches_no_child(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(guard, "NEW_GROUP", 0x200)  # CREATE_NEW_PROCESS_GROUP there
    sources = [each.read_text("utf-8") for each in (ROOT / "harness").rglob("*.py")]

    with pytest.raises(ValueError, match="creationflags is only supported on Windows"):
        guard.Guard(os.getpid(), folder=str(tmp_path))

    sessions = sum(each.count("start_new_session=True") for each in sources)
    assert sessions == sum(each.count("creationflags=NEW_GROUP") for each in sources)
    assert sessions >= 2


def test_the_guard_goes_when_the_server_was_ended() -> None:
    server = process.start(Path(sys.executable), ["-c", SLEEPER], port=1)
    guard = server._guard.pid  # noqa: SLF001 - nobody else has reason to ask

    assert group_lives(guard)
    server.end()

    assert not group_lives(guard)


def interrupted() -> None:
    raise KeyboardInterrupt


def test_a_server_that_is_interrupted_while_it_loads_is_ended() -> None:
    server = process.start(Path(sys.executable), ["-c", SLEEPER], port=process.free_port())
    assert psutil.pid_exists(server.pid)

    with pytest.raises(KeyboardInterrupt):
        server.wait_until_ready(PATIENCE_S, ask=interrupted)

    assert not server.running()
    assert not psutil.pid_exists(server.pid)
