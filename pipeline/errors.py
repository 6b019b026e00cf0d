"""Define the errors that stop the pipeline; each message names the next step to take."""

import errno
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from schemas.finding import Finding


class PipelineError(Exception):
    """An error that stops the pipeline; its text is a message for the person who ran it."""

    exit_code = 1


@contextmanager
def ending() -> Iterator[None]:
    """Print the error that stops a command, and exit with the error's code."""
    try:
        yield
    except PipelineError as error:
        _end(str(error), error.exit_code, error)
    except ModuleNotFoundError as error:
        _end(f"{error.name} is not installed. Run: make setup", UnwritableError.exit_code, error)
    except MemoryError as error:
        message = "Out of memory. Close other programs, or raise the memory limit."
        _end(message, UnwritableError.exit_code, error)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        name = error.filename or "A file"
        message = f"{name} cannot be written ({error.strerror}). Free some disk space."
        _end(message, UnwritableError.exit_code, error)


def _end(message: str, code: int, error: BaseException) -> NoReturn:
    print(message, file=sys.stderr)  # noqa: T201 - the one place that talks to a person
    raise SystemExit(code) from error


class RejectedError(PipelineError):
    """At least one file does not follow the format; nothing was loaded."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__("\n".join(finding.line() for finding in findings))


class MissingFileError(PipelineError):
    """A requested path does not exist."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} does not exist. Give a result file or a folder of result files.")


class UnwritableError(PipelineError):
    """The output cannot be written."""

    exit_code = 3


class CheckFailedError(PipelineError):
    """A query over the loaded data found rows that must not exist: a fault in the pipeline."""

    exit_code = 3

    def __init__(self, failures: Mapping[str, str]) -> None:
        lines = [f"check {name}: {example}" for name, example in failures.items()]
        super().__init__(
            "The loaded data are inconsistent. Please report this with the lines below.\n"
            + "\n".join(lines)
        )
