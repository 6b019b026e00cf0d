"""Start a server, wait until it is ready, and end it; its log goes to a temporary file."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import psutil

from harness.campaign.hidden_arguments import without_keys
from harness.machine.engines import server_environment
from harness.runners.base import FailedError, Failure
from harness.runners.failures import failure_in_log
from harness.runners.http.client import ServerError
from harness.runners.http.guard import NEW_GROUP, Guard
from schemas.submission import Reason

HOST = "127.0.0.1"
_POLL_S = 0.05
ASK_LIMIT_S = 5.0
_END_LIMIT_S = 10.0
_DYING_S = 2.0


def free_port() -> int:
    """Return a port of the loopback address that is free now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_taken(port: int) -> bool:
    """Whether a program listens on a port of the loopback address."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


@dataclass(slots=True)
class ServerProcess:
    """A server that this program started."""

    program: Path
    arguments: Sequence[str]
    port: int
    _process: subprocess.Popen[bytes]
    _folder: TemporaryDirectory[str] = field(repr=False)
    _guard: Guard = field(repr=False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> str:
        """Return everything that the server has printed, with API keys removed."""
        path = Path(self._folder.name) / "log"
        return without_keys(path.read_text("utf-8", "replace"), self.arguments)

    def running(self) -> bool:
        return self._process.poll() is None

    def wait_until_ready(self, limit_s: float, *, ask: Callable[[], object]) -> None:
        """Wait until the server is ready; end it if it fails, is too slow or is interrupted.

        `ask` sends the server a request, and raises `ServerError` until the server is ready. Raises
        `FailedError`.
        """
        until = time.monotonic() + limit_s
        with ExitStack() as undo:
            undo.callback(self.end)  # even after Ctrl-C: no other code can end it yet
            while time.monotonic() < until:
                if death := self.death(loading=True):
                    raise FailedError(death)
                with suppress(ServerError):
                    ask()
                    undo.pop_all()
                    return
                time.sleep(_POLL_S)
            what = f"{self.program.name} was not ready within {limit_s:.0f} s; raise --timeout"
            raise FailedError(failure_in_log(self.log(), otherwise="timed-out", what=what))

    def end(self) -> None:
        """End the server and its children: SIGTERM first, then SIGKILL."""
        self._signal("SIGTERM")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_LIMIT_S)
        self._signal("SIGKILL")
        self._process.wait()
        self._guard.dismiss()
        self._folder.cleanup()

    def _signal(self, name: Literal["SIGTERM", "SIGKILL"]) -> None:
        """Send a signal to the server's process group, even if the group's leader has exited."""
        if os.name == "posix":
            with suppress(ProcessLookupError):
                os.killpg(self.pid, getattr(signal, name))
        else:
            _end_tree(self.pid)

    def death(self, *, loading: bool = False) -> Failure | None:
        """Return why the server died, or `None`; SIGKILL while `loading` means out of memory."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        killed = loading and os.name == "posix" and code == -signal.SIGKILL
        otherwise: Reason = "out-of-memory" if killed else "crashed"
        what = f"{self.program.name} {how}"
        return failure_in_log(self.log(), otherwise=otherwise, what=what)

    def death_soon(self) -> Failure | None:
        """Return why the server died, after a short wait for a process that is about to die."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING_S)
        return self.death()


def _end_tree(pid: int) -> None:
    """End a process and its children on Windows, where ending a parent leaves its children."""
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for each in [*top.children(recursive=True), top]:
            with suppress(psutil.Error):
                each.kill()


def start(program: Path, arguments: Sequence[str], *, port: int) -> ServerProcess:
    """Start a program as a server. Raises `OSError` if the program cannot be started."""
    folder: TemporaryDirectory[str] = TemporaryDirectory(
        prefix="draftmap-server-",
        ignore_cleanup_errors=True,  # on Windows a dying program still has its log open
    )
    with (Path(folder.name) / "log").open("wb") as stream:
        process = subprocess.Popen(  # noqa: S603 - the program that the user named
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=server_environment(program),
            start_new_session=True,
            creationflags=NEW_GROUP,
        )
    guard = Guard(process.pid, folder=folder.name)
    return ServerProcess(program, arguments, port, process, folder, guard)


def start_ready(
    program: Path, arguments: Sequence[str], *, port: int, limit_s: float, ask: Callable[[], object]
) -> ServerProcess:
    """Start a server and wait until it is ready. Raises `FailedError`, leaving no process."""
    try:
        server = start(program, arguments, port=port)
    except OSError as error:
        detail = f"{program.name} cannot be started: {error.strerror}"
        raise FailedError(Failure(reason="load-failed", detail=detail)) from error
    server.wait_until_ready(limit_s, ask=ask)
    return server
