"""How is a server started, waited for and ended? Its log in a file, no process left behind.

A server may start processes of its own, so it gets a process group, and the group is ended; by its
guard, where this program was killed.
"""

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

from harness.runners.base import Failure
from harness.runners.devices import ARGUMENTS
from harness.runners.http.client import Client, ServerRefusedError, ServerSilentError
from harness.runners.http.guard import Guard
from harness.runners.llama_server import log

HOST = "127.0.0.1"
# A key that the person's other servers want would lock us out of this one.
_ARGUMENTS = (ARGUMENTS, "LLAMA_API_KEY")
_POLL_S = 0.05
_ASK_LIMIT_S = 5.0
_END_LIMIT_S = 10.0
_DYING_S = 2.0


def free_port() -> int:
    """A port of the loopback address that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class ServerProcess:
    """A server that this program started, and only that one."""

    program: Path
    port: int
    _process: subprocess.Popen[bytes]
    _folder: TemporaryDirectory[str] = field(repr=False)
    _guard: Guard = field(repr=False)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def log(self) -> str:
        """All that it has printed."""
        path = Path(self._folder.name) / "log"
        return path.read_text("utf-8", "replace")

    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait_until_ready(
        self, limit_s: float, *, ask: Callable[[], object] | None = None
    ) -> Failure | None:
        """Wait until it is healthy; why it is not, if it ends or the limit passes first.

        `ask` asks it and raises as a client does until it is; without it `/health` is asked.
        """
        client = Client(host=HOST, port=self.port, limit_s=_ASK_LIMIT_S)
        with ExitStack() as undo:
            undo.callback(self.end)  # Ctrl-C: nobody else knows of this server yet
            failure = self._wait(limit_s, ask or (lambda: client.get("/health")))
            undo.pop_all()
        return failure

    def _wait(self, limit_s: float, healthy: Callable[[], object]) -> Failure | None:
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            if not self.running():
                return self._stillborn()
            with suppress(ServerSilentError, ServerRefusedError):
                healthy()
                return None
            time.sleep(_POLL_S)
        what = f"{self.program.name} was not ready within {limit_s:.0f} s; raise --startup-timeout"
        return log.failure(self.log(), otherwise="timed-out", what=what)

    def end(self) -> None:
        """End it and what it started, kindly first."""
        self._signal("SIGTERM")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_LIMIT_S)
        self._signal("SIGKILL")
        self._process.wait()
        self._guard.dismiss()
        self._folder.cleanup()

    def _signal(self, name: Literal["SIGTERM", "SIGKILL"]) -> None:
        """Send a signal to the whole group, whose leader may be gone already."""
        if os.name == "posix":
            with suppress(ProcessLookupError):
                os.killpg(self.pid, getattr(signal, name))
        elif name == "SIGTERM":
            self._process.terminate()
        else:
            self._process.kill()

    def _stillborn(self) -> Failure:
        """Why it ended before it was ready; what is killed while it loads was too large."""
        killed = os.name == "posix" and self._process.returncode == -signal.SIGKILL
        return log.failure(
            self.log(), otherwise="out-of-memory" if killed else "crashed", what=self._ended()
        )

    def death(self) -> Failure | None:
        """Why it died, if it did."""
        if self.running():
            return None
        return log.failure(self.log(), otherwise="crashed", what=self._ended())

    def death_soon(self) -> Failure | None:
        """Why it died, waiting a moment for a process that is just dying."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING_S)
        return self.death()

    def _ended(self) -> str:
        code = self._process.returncode
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"{self.program.name} {how}"


def start(program: Path, arguments: Sequence[str], *, port: int) -> ServerProcess:
    """Start a program as a server. Raises `OSError` when it cannot be started at all."""
    folder: TemporaryDirectory[str] = TemporaryDirectory(prefix="draftmap-server-")
    with (Path(folder.name) / "log").open("wb") as stream:
        process = subprocess.Popen(  # noqa: S603 - the program that the user named
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment(program),
            start_new_session=True,
        )
    guard = Guard(process.pid)
    return ServerProcess(program=program, port=port, _process=process, _folder=folder, _guard=guard)


def environment(program: Path) -> dict[str, str]:
    """The environment without llama.cpp's arguments: what counts stands on the command line.

    Release archives keep the libraries beside the program.
    """
    beside = str(program.resolve().parent)
    known = os.environ.get("LD_LIBRARY_PATH")
    path = f"{beside}{os.pathsep}{known}" if known else beside
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_ARGUMENTS)}
    return {**kept, "LD_LIBRARY_PATH": path}
