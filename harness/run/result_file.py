"""Check and write a result file under its canonical name."""

from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryFile

from estimates.identity import canonical_name
from harness import files
from harness.errors import BadInputError, HarnessError, MachineError
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.submission import Submission

# Suffixes that indicate a file; a name with any other suffix is a folder.
_OTHER_FILES = {".csv", ".gz", ".html", ".jsonl", ".log", ".md", ".toml", ".txt", ".yaml", ".zip"}


def write(submission: Submission, output: Path | None) -> Path:
    """Write a submission and return its path.

    The path is `output`, or, if `output` is a directory, the canonical name in it. Raises
    `HarnessError` if the submission violates the format, `MachineError` if writing fails.
    """
    data = canonical_bytes(encode(submission))
    problems = findings(data, file="result")
    if problems:
        raise HarnessError(
            f"the result violates the format: {problems[0].line()}; this is a bug, please report "
            "it. The measurements have been saved; --resume writes the result again"
        )
    path = output or Path()
    if not _is_file_name(path):
        path /= canonical_name(submission, data)
    try:
        with files.written(path) as part:
            part.write_bytes(data)
    except OSError as error:
        raise MachineError(
            f"{path} cannot be written ({error.strerror}); the measurements have been saved: "
            "repeat the command with --resume and another --output"
        ) from error
    return path


def require_directory(output: Path | None) -> None:
    """Raise `BadInputError` if several results would be written to the same file."""
    if output is not None and _is_file_name(output):
        raise BadInputError(f"several engines give several results; name a directory, not {output}")


def require_free(output: Path | None) -> None:
    """Raise `BadInputError` if the file exists: the file may be the result of an hour's work."""
    if output is not None and output.is_file():
        raise BadInputError(f"{output} already exists; name another --output, or delete it first")


def require_writable(output: Path | None) -> None:
    """Raise `HarnessError` if the output path is not writable; call it before measuring."""
    path = output or Path()
    if path.suffix in _OTHER_FILES and not path.exists():
        raise BadInputError(
            f"a result is JSON, so {path} cannot be its --output; name NAME.json, or a folder"
        )
    folder = path.parent if _is_file_name(path) else path
    if folder.is_file():
        raise BadInputError(
            f"{folder} is a file; name a directory as --output, or a file NAME.json in a directory"
        )
    try:
        # Missing folders are created with the file, because a dry run must not write anything.
        with TemporaryFile(dir=next(each for each in (folder, *folder.parents) if each.exists())):
            pass
    except OSError as error:
        message = f"{path} cannot be written ({error.strerror}); choose another --output"
        kind = MachineError if error.errno == ENOSPC else BadInputError
        raise kind(message) from error


def _is_file_name(path: Path) -> bool:
    """Whether a path names a JSON file, not a directory such as `results` or `my.results`."""
    return path.suffix.lower() == ".json" and not path.is_dir()
