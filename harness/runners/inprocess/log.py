"""What did llama.cpp say last? Its log is kept in memory and read only when something fails."""

import ctypes
import re
from collections import deque

import llama_cpp

from schemas.submission import Reason

_KEPT_LINES = 200
_OUT_OF_MEMORY = (
    "out of memory",
    "failed to allocate",
    "unable to allocate",
    "cudamalloc failed",
    "erroroutofdevicememory",
    "insufficient memory",
)

_OFFLOADED = re.compile(r"offloaded (\d+)/\d+ layers to GPU")

_lines: deque[str] = deque(maxlen=_KEPT_LINES)


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _keep(_level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
    _lines.append(text.decode("utf-8", "replace"))


def capture() -> None:
    """Send the engine's log here instead of to the terminal, from now on."""
    clear()
    llama_cpp.llama_log_set(_keep, ctypes.c_void_p(0))


def clear() -> None:
    """Forget what was said so far."""
    _lines.clear()


def offloaded_layers() -> int | None:
    """Layers that the last model put on the GPU, if the log says so; it counts the output layer."""
    found = _OFFLOADED.findall(text())
    return int(found[-1]) if found else None


def text() -> str:
    """The last lines of the log."""
    return "".join(_lines)


def last_error() -> str:
    """The last line that speaks of an error, or the last line at all; empty without any."""
    lines = [line.strip() for line in text().splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "failed" in line.lower()]
    return (errors or lines or [""])[-1]


def out_of_memory() -> bool:
    """Whether the log speaks of memory that could not be had."""
    lower = text().lower()
    return any(phrase in lower for phrase in _OUT_OF_MEMORY)


def reason(otherwise: Reason) -> Reason:
    """The reason of a failure: out of memory if the log says so, else the one given."""
    return "out-of-memory" if out_of_memory() else otherwise
