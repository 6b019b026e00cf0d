"""The errors that the harness reports to its user, and their exit codes."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

INTERRUPTED = 130  # as shells report a program that Ctrl-C ended


class HarnessError(Exception):
    """A problem that one clear line explains: what, where, what to do. Printed once, by the cli."""

    exit_code: ClassVar[int] = 3


class BadInputError(HarnessError):
    """Invalid input: a file, an option value, a model."""

    exit_code = 1


class UsageError(BadInputError):
    """The command line is wrong, whatever the files and the machine are."""

    exit_code = 2


class MachineError(HarnessError):
    """Something the machine lacks: memory, disk, a package, a working engine."""

    exit_code = 3


class NothingMeasuredError(HarnessError):
    """The run was ended by Ctrl-C before anything was measured."""

    exit_code = INTERRUPTED


def unreadable(path: Path, error: OSError) -> BadInputError:
    match error:
        case IsADirectoryError():
            step = "name a file in it"
        case PermissionError():
            step = "check its permissions"
        case _:
            step = "check the path"
    return BadInputError(f"{path} cannot be read: {error.strerror}; {step}")


def suggestion(name: str, known: Iterable[str], most: int = 1) -> str:
    """` Did you mean 'x'?` with the nearest known names, or the list of all when none is near."""
    choices = sorted(known)
    matches = difflib.get_close_matches(name, choices, n=most, cutoff=0.5)
    if matches:
        return f" Did you mean {' or '.join(map(repr, matches))}?"
    return f" Known: {', '.join(choices)}." if choices else ""
