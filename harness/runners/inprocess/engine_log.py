"""Capture llama.cpp's log in memory, to find reasons for failures and numbers of GPU layers."""

import ctypes
import re
from collections import deque

import llama_cpp

from harness.runners import failures
from harness.runners.base import FailedError, Failure
from schemas.submission import Reason

_LINES = 200
_OFFLOADED = re.compile(r"offloaded (\d+)/\d+ layers to GPU")

_lines: deque[str] = deque(maxlen=_LINES)


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _add(_level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
    _lines.append(text.decode("utf-8", "replace"))


def capture() -> None:
    """From now on, send the engine's log to this module instead of the terminal."""
    clear()
    llama_cpp.llama_log_set(_add, ctypes.c_void_p(0))


def clear() -> None:
    _lines.clear()


def offloaded_layers() -> int | None:
    """Return how many layers of the last loaded model are on the GPU; `None` if not logged.

    The output layer counts too.
    """
    found = _OFFLOADED.findall(text())
    return int(found[-1]) if found else None


def text() -> str:
    return "".join(_lines)


def last_error() -> str:
    """Return the line of the engine's log that best explains a failure, as `failures.last_line`."""
    return failures.last_line(text())


def out_of_memory() -> bool:
    return failures.reason_in(text()) == "out-of-memory"


def failed(reason: Reason, error: Exception) -> FailedError:
    """Return an error as a failure: out of memory if the log says so, else the given reason."""
    reason = "out-of-memory" if out_of_memory() else reason
    return FailedError(Failure(reason=reason, detail=str(error)))
