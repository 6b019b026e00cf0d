"""Prints results on standard output, and everything else on standard error."""

import codecs
import errno
import functools
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import orjson
import typer
from rich.console import Console

from harness import IN_A_CHECKOUT, INSTALLED, PROGRAM
from harness.errors import INTERRUPTED, HarnessError, MachineError
from schemas.codec import Json

P = ParamSpec("P")
T = TypeVar("T")

JSON_VERSION = 1  # incremented when a key is removed or changes its meaning
_NARROWEST = 80
_STDERR = 2
# Replacements for characters of the report that some encodings lack, such as cp437 and ASCII.
_PLAIN = {
    "█": "#",
    "△": "+",
    "▲": "+",
    "▽": "-",
    "▼": "-",
    "●": "=",
    "◇": "-",
    "○": "o",
    "→": "->",
    "≤": "<=",
    "±": "+-",
    "\N{MULTIPLICATION SIGN}": "x",
    "✕": "x",
    "\N{EN DASH}": "-",
    "·": "-",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "…": "...",
}


def prepare_streams() -> None:
    """Make printing safe even if the output is closed (`>&-`) or its encoding lacks characters."""
    codecs.register_error("plain", _in_plain_signs)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for good
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        raw = io.BufferedWriter(_Lossy(_STDERR, "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(
            raw, sys.stderr.encoding, "plain", line_buffering=True, write_through=True
        )


class _Lossy(io.FileIO):
    """A stream that drops messages if the disk is full, so that the measurement continues."""

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        try:
            return super().write(data)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return len(data)


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in lost), error.end


def say(text: str) -> None:
    """Print one line for the user on standard error: the line is not part of the result."""
    typer.echo(as_started(text), err=True)


def as_started(text: str) -> str:
    """Write the commands in a text as users type them: `draftmap …` if the program is installed."""
    return text.replace(IN_A_CHECKOUT, PROGRAM) if INSTALLED else text


@contextmanager
def interruptible() -> Iterator[None]:
    """Acknowledge Ctrl-C immediately, since stopping an engine in mid-answer takes seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        # `say` is unsafe here: the signal may arrive while a line is being written.
        with suppress(OSError):
            os.write(2, b"\nInterrupted: ending the engine, keeping what was measured.\n")
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def print_json(value: Mapping[str, Json]) -> None:
    """Print a JSON object with the version of its format; docs/json.md describes the format."""
    versioned = {"json_version": JSON_VERSION, **value}
    typer.echo(orjson.dumps(versioned, option=orjson.OPT_INDENT_2).decode())


def result_console() -> Console:
    """Return the console for results.

    Colour and the terminal's width are used in a terminal only.
    """
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, no_color=True, width=_NARROWEST)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of the result without wrapping, so that commands in them can be copied."""
    screen = result_console()
    for line in lines:
        screen.print(line, markup=False, soft_wrap=True)


def progress_console() -> Console:
    return Console(stderr=True, highlight=False)


def reports_errors(command: Callable[P, T]) -> Callable[P, T]:
    """Print a `HarnessError` as one line, and exit with the error's code."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except HarnessError as error:
            say(f"Error: {error}")
            raise typer.Exit(error.exit_code) from error
        except BrokenPipeError:
            raise  # the reader closed the pipe; typer ends the program quietly
        except OSError as error:
            # Only errors of writing the output arrive here, such as a full disk.
            where = error.filename or "cannot write the output"
            say(f"Error: {where}: {error.strerror}; free some disk space")
            raise typer.Exit(MachineError.exit_code) from error
        except KeyboardInterrupt:
            say("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None

    return wrapped
