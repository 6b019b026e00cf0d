"""A cell as a child process: `run` with its arguments, whose result file is the answer."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from harness.machine.command import own_module
from harness.runners.http.guard import Guard

# The program that measures a cell; a trial of the fleet itself puts another in its place.
PROGRAM = [*own_module("harness"), "run"]
_LAST_LINES = 5
_END_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a worker is asked to measure; with `resume` it has a journal of this cell."""

    cell: str
    arguments: tuple[str, ...]
    resume: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the child ended: its exit code, the texts of its result files, its last lines."""

    code: int
    files: tuple[str, ...]
    lines: tuple[str, ...]
    seconds: float


_child: list[subprocess.Popen[str]] = []


def carry_out(order: Order, tell: Callable[[str], None]) -> Outcome:
    """Run a cell in a child process; `tell` gets every line that it prints about its progress."""
    began = time.monotonic()
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    with TemporaryDirectory(prefix="draftmap-cell-") as folder:
        output = ["--output", f"{folder}{os.sep}", *(["--resume"] if order.resume else [])]
        child = subprocess.Popen(  # noqa: S603 - this program, with the words of the matrix
            [*PROGRAM, *order.arguments, *output],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        guard = Guard(child.pid, folder=folder)
        _child.append(child)
        try:
            for line in child.stderr or ():
                lines.append(line.strip())
                tell(line.strip())
            code = child.wait()
        finally:
            _child.clear()
            guard.dismiss()
        texts = tuple(path.read_text("utf-8") for path in sorted(Path(folder).glob("*.json")))
    return Outcome(
        code=code, files=texts, lines=tuple(lines), seconds=round(time.monotonic() - began, 1)
    )


def expected_s(arguments: Sequence[str]) -> float | None:
    """How long a cell would take on this machine; `None` where it cannot be known before."""
    done = subprocess.run(  # noqa: S603 - this program, with the words of the matrix
        [*PROGRAM, *arguments, "--dry-run", "--json"], capture_output=True, check=False
    )
    try:
        seconds = orjson.loads(done.stdout)["expected_s"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return float(seconds) if isinstance(seconds, int | float) else None


def interrupt() -> None:
    """End the cell that is measured now, as Ctrl-C does: its journal is kept."""
    for child in [*_child]:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(_END_LIMIT_S)
        child.kill()
