"""What does a git repository hold between two revisions? Objects only, never a checkout.

Nothing here runs what it reads: no hook, no filter, no external diff.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import PipelineError
from schemas.finding import shown

_TIMEOUT_S = 60


class GitError(PipelineError):
    """Git could not answer: no repository, an unknown revision, too short a history."""

    exit_code = 3

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed path: `status` is git's letter, `mode` and `blob` are those of the new side."""

    path: str
    status: str
    mode: str
    blob: str


def commit(repository: Path, revision: str) -> str:
    """The full id of the commit that a revision names. Raises `GitError` if there is none."""
    name = f"{revision}^{{commit}}"
    options = ("--verify", "--quiet", "--end-of-options")
    try:
        return _text(repository, "rev-parse", *options, name).strip()
    except GitError as error:
        if not error.said:
            told = shown(revision)
            message = f"{told} names no commit of this clone; fetch it, or check the spelling"
            raise GitError(message) from error
        raise


def changes(repository: Path, base: str, head: str) -> tuple[Change, ...]:
    """Every path that `head` changes since it left `base`; a rename removes one and adds one.

    Raises `GitError` when the two share no history, or not as much as this clone knows of.
    """
    start = _fork_point(repository, base, head)
    options = ("--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "-z")
    fields = _text(repository, "diff", *options, start, head, "--").split("\0")[:-1]
    return tuple(sorted(_changes(iter(fields)), key=lambda change: change.path))


def _fork_point(repository: Path, base: str, head: str) -> str:
    """The commit at which `head` left `base`."""
    try:
        return _text(repository, "merge-base", base, head).split("\n")[0]
    except GitError as error:
        if _text(repository, "rev-parse", "--is-shallow-repository").strip() == "true":
            message = "this clone is shallow; fetch the rest with: git fetch --unshallow"
        else:
            message = f"{head[:12]} shares no history with {base[:12]}; start the branch from main"
        raise GitError(message) from error


def size(repository: Path, blob: str) -> int:
    """The size of a blob in bytes."""
    return int(_text(repository, "cat-file", "-s", blob))


def content(repository: Path, blob: str) -> bytes:
    """The bytes of a blob as they are stored."""
    return _run(repository, "cat-file", "blob", blob)


def names(repository: Path, revision: str, folder: str) -> tuple[str, ...]:
    """The paths of everything in a folder at a revision."""
    listed = _text(repository, "ls-tree", "--name-only", "-z", revision, f"{folder}/")
    return tuple(listed.split("\0")[:-1])


def file(repository: Path, revision: str, path: str) -> bytes:
    """The bytes of a file at a revision."""
    return _run(repository, "cat-file", "blob", f"{revision}:{path}")


def values(repository: Path, revision: str, folder: str, key: str) -> Mapping[str, str]:
    """What the compact JSON files of a folder say for a key of text: the value, and which file."""
    pattern = f'"{key}":"[A-Za-z0-9._-]*"'
    options = ("--only-matching", "-z", "-e", pattern)
    try:
        listed = _text(repository, "grep", *options, revision, "--", f"{folder}/")
    except GitError:  # git grep ends with 1 when it finds nothing
        return {}
    pairs = (line.split("\0") for line in listed.splitlines())
    return {match.split('"')[3]: file.rpartition("/")[2] for file, match in pairs}


def _changes(fields: Iterator[str]) -> Iterator[Change]:
    """Pairs of `:old-mode new-mode old-blob new-blob status` and the path."""
    for entry in fields:
        _, mode, _, blob, status = entry.split(" ")
        yield Change(path=next(fields), status=status[0], mode=mode, blob=blob)


def _text(repository: Path, *arguments: str) -> str:
    return _run(repository, *arguments).decode("utf-8", "backslashreplace")


def _run(repository: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(repository), *arguments]
    # What git says is quoted in our messages, which are in one language.
    variables = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, and revisions are resolved before they are used
            command, capture_output=True, timeout=_TIMEOUT_S, check=True, env=variables
        )
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()
        why = said or "it did not say why"
        message = f"git {arguments[0]} failed: {why}. Is it a full clone that has both revisions?"
        raise GitError(message, said) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"git could not be run ({error}). Install git, or try again."
        raise GitError(message) from error
    return done.stdout
