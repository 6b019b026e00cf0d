"""The errors that the harness reports to its user, and their exit codes."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

DONE, NO, BAD_INPUT, NOT_MEASURED, INVALID_ANSWERS = range(5)
INTERRUPTED = 130  # the code that shells report after Ctrl-C
EXIT_CODES: Mapping[int, str] = {
    DONE: "done",
    NO: "the check failed: for example, a file is invalid or a build is clearly slower",
    BAD_INPUT: "a bad option or input",
    NOT_MEASURED: (
        "measuring was impossible: too little memory or disk space, no network, or no working "
        "engine"
    ),
    INVALID_ANSWERS: "answers are invalid",
    INTERRUPTED: "interrupted; the measurements so far have been saved",
}


class HarnessError(Exception):
    """An error whose message is printed to the user: the problem, the place and the remedy."""

    exit_code: ClassVar[int] = NOT_MEASURED


class BadInputError(HarnessError):
    """A bad option or input: an unusable file, value or model."""

    exit_code = BAD_INPUT


class RefusedError(HarnessError):
    """The file to be checked is not valid."""

    exit_code = NO


class MachineError(HarnessError):
    """The machine lacks something: memory, disk space, a package, a working engine."""


class NothingMeasuredError(HarnessError):
    """Ctrl-C ended the run before anything was measured."""

    exit_code = INTERRUPTED


def unreadable(path: Path, error: OSError) -> BadInputError:
    steps = {
        IsADirectoryError: "name a file in this folder",
        PermissionError: "check its permissions",
    }
    step = steps.get(type(error), "check the path")
    return BadInputError(f"{path} cannot be read: {error.strerror}; {step}")


_LISTED = 25


def suggestion(name: str, known: Iterable[str], most: int = 1) -> str:
    """Return ` Did you mean 'x'?` with the nearest known names, or the list of all names.

    Names that begin with the given text are nearest, the shortest first.
    """
    choices, name = sorted(known), name.lower()
    begun = sorted((each for each in choices if name and each.startswith(name)), key=len)
    near = difflib.get_close_matches(name, choices, n=most, cutoff=0.6)
    matches = [*dict.fromkeys((*begun, *near))][:most]
    if matches:
        return f" Did you mean {' or '.join(map(repr, matches))}?"
    return f" Known: {', '.join(choices)}." if 0 < len(choices) <= _LISTED else ""
