"""Where does a result go? Checked first, then written under its canonical name."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from estimates.result_name import canonical_name
from harness import files
from harness.errors import BadInputError, HarnessError, MachineError
from schemas.canonical import canonical_bytes
from schemas.codec import encode
from schemas.contract import findings
from schemas.submission import Submission


def write(submission: Submission, output: Path | None) -> Path:
    """Write a submission and return where: `output`, or its canonical name in that directory.

    Raises `HarnessError` when the contract finds anything wrong, `MachineError` when the disk does.
    """
    data = canonical_bytes(encode(submission))
    found = findings(data)
    if found:
        message = (
            f"the result does not keep the format: {found[0].line('result')}; this is an error of "
            "the harness, please report it. What was measured is kept; --resume writes it again"
        )
        raise HarnessError(message)
    path = output or Path()
    if not _is_file_name(path):
        path /= canonical_name(submission, data)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.written(path) as part:
            part.write_bytes(data)
    except OSError as error:
        message = (
            f"{path} cannot be written ({error.strerror}); what was measured is kept: give the "
            "same command with --resume and another --output"
        )
        raise MachineError(message) from error
    return path


def require_directory(output: Path | None) -> None:
    """Raise `BadInputError` when a file is meant where several results are to go."""
    if output is not None and _is_file_name(output):
        message = f"several engines give several results; name a directory, not {output}"
        raise BadInputError(message)


def require_free(output: Path | None) -> None:
    """Raise `BadInputError` when a file of that name is there: it may hold an hour's work."""
    if output is not None and output.is_file():
        message = f"{output} is there already; name another --output, or remove it first"
        raise BadInputError(message)


def require_writable(output: Path | None) -> None:
    """Raise `MachineError` when nothing can be written there; to be asked before measuring."""
    path = output or Path()
    folder = path.parent if _is_file_name(path) else path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"{path} cannot be written ({error.strerror}); choose another --output"
        raise MachineError(message) from error


def _is_file_name(path: Path) -> bool:
    """Whether a file is meant. All else is a directory, there or not: `results`, `my.results`."""
    return path.suffix == ".json" and not path.is_dir()
