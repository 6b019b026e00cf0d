"""Read commits, trees and blobs of a git repository as data: plumbing only, never a checkout.

Git settings of the user, the machine or the clone have no effect, and no hook, filter or external
program runs. A failure of git is a `GitError`, never an empty answer.
"""

import os
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.errors import PipelineError
from schemas.finding import shown

_TIMEOUT_S = 60
_BLOBS_AT_ONCE = 64  # blobs of at most half a MiB each
_PLAIN_LOG = ("--no-ext-diff", "--no-textconv", "--no-mailmap", "--no-show-signature")
_REGULAR_FILE = "100644"
_SETTINGS = {
    "core.attributesFile": os.devnull,
    "core.commitGraph": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "true",
    # Only the named repository is used, and nothing in that repository is run.
    "safe.directory": "*",
}
_VARIABLES = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_GRAFT_FILE": f"{os.devnull}/none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # Our messages, which are in English, quote git's messages.
    "LC_ALL": "C",
}


class GitError(PipelineError):
    """Git could not answer: no repository, an unknown revision, or a history that is too short."""

    exit_code = 3

    def __init__(self, message: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A changed path: git's `status` letter, and the `mode` and `blob` after the change."""

    path: str
    status: str
    mode: str
    blob: str


def commit(repository: Path, revision: str) -> str:
    """The full id of a revision's commit. Raises `GitError` if there is no such commit."""
    found = _resolved(repository, revision)
    if found is None:
        raise GitError(
            f"{shown(revision)} is not a commit in this clone; fetch the commit, or check "
            "the spelling"
        )
    names = (f"refs/{kind}/{revision}" for kind in ("heads", "tags"))
    there = _text(repository, "for-each-ref", "--format=%(refname)", *names).split()
    if len({_resolved(repository, name) for name in there}) > 1:
        raise GitError(
            f"{shown(revision)} is both a branch and a tag, for different commits; give the "
            "commit's id"
        )
    return found


def _resolved(repository: Path, revision: str) -> str | None:
    options = ("--verify", "--quiet", "--end-of-options")
    try:
        return _text(repository, "rev-parse", *options, f"{revision}^{{commit}}").strip()
    except GitError as error:
        if error.code == 1:
            return None
        raise


def changes(repository: Path, base: str, head: str) -> tuple[Change, ...]:
    """Every path that `head` changed since it left `base`; a rename counts as removing and adding.

    Raises `GitError` if the two revisions share no history, or none within the depth of this clone.
    """
    start = _fork_point(repository, base, head)
    options = ("-r", "--raw", "--no-renames", "--no-abbrev", "--no-relative", "--no-color", "-z")
    safe = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
    fields = _text(repository, "diff-tree", *options, *safe, start, head, "--").split("\0")[:-1]
    found = []
    # Pairs of `:old-mode new-mode old-blob new-blob status` and the path.
    for about, path in zip(fields[::2], fields[1::2], strict=True):
        _, mode, _, blob, status = about.split(" ")
        found.append(Change(path=path, status=status[0], mode=mode, blob=blob))
    return tuple(sorted(found, key=attrgetter("path")))


def _fork_point(repository: Path, base: str, head: str) -> str:
    """The commit at which `head` left `base`."""
    try:
        return _text(repository, "merge-base", base, head).split("\n")[0]
    except GitError as error:
        if error.code != 1:
            raise
        if _text(repository, "rev-parse", "--is-shallow-repository").strip() == "true":
            message = "this clone is shallow; fetch the rest with: git fetch --unshallow"
        else:
            message = f"{head[:12]} shares no history with {base[:12]}; start the branch from main"
        raise GitError(message) from error


def files(repository: Path, revision: str, folder: str) -> Mapping[str, str]:
    """The names of all files below a folder at a revision, with their blobs.

    A link has an empty blob.
    """
    listed = _text(repository, "ls-tree", "-r", "--full-tree", "-z", revision, f"{folder}/")
    entries = (entry.partition("\t") for entry in listed.split("\0")[:-1])
    return {
        path.rpartition("/")[2]: about.split(" ")[2] if about.startswith(_REGULAR_FILE) else ""
        for about, _, path in entries
    }


def sizes(repository: Path, blobs: Iterable[str]) -> Mapping[str, int]:
    request = "".join(f"{blob}\n" for blob in blobs).encode()
    if not request:
        return {}
    lines = _run(repository, "cat-file", "--batch-check", data=request).decode().splitlines()
    return dict(_object(line) for line in lines)


def contents(repository: Path, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """The stored bytes of blobs by name, in order; links, which have empty blobs, are left out."""
    listed = iter([(name, blob) for name, blob in blobs.items() if blob])
    while some := list(islice(listed, _BLOBS_AT_ONCE)):
        request = "".join(f"{blob}\n" for _, blob in some).encode()
        answer = _run(repository, "cat-file", "--batch", data=request)
        at = 0
        for name, blob in some:
            end = answer.index(b"\n", at)
            found, size = _object(answer[at:end].decode())
            if found != blob:
                raise GitError(f"git cat-file answered with {shown(found)} instead of {blob}")
            yield name, answer[end + 1 : end + 1 + size]
            at = end + size + 2


def commit_file(  # noqa: PLR0913 - what a commit is made of
    repository: Path, base: str, path: str, data: bytes, *, author: str, moment: str, title: str
) -> str:
    """Commit one new file on top of `base`, on no branch, and return the commit's id.

    `author` is `NAME <EMAIL>` and `moment` an ISO date; the same arguments give the same commit.
    """
    blob = _run(repository, "hash-object", "-w", "--stdin", "--no-filters", data=data).decode()
    name, _, mail = author.rstrip(">").partition(" <")
    with TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        entry = f"{_REGULAR_FILE},{blob.strip()},{path}"
        _run(repository, "read-tree", base, variables=index)
        _run(repository, "update-index", "--add", "--cacheinfo", entry, variables=index)
        tree = _run(repository, "write-tree", variables=index).decode().strip()
    people = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", moment))
    }
    made = _run(repository, "commit-tree", tree, "-p", base, "-m", title, variables=people)
    return made.decode().strip()


def export(repository: Path, revision: str, folder: str, into: Path) -> None:
    """Write the files below a folder at a trusted revision into a folder on the disk."""
    data = _run(repository, "archive", "--format=tar", revision, folder)
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        archive.extractall(into, filter="data")


def authors(repository: Path, revision: str, paths: Iterable[str]) -> frozenset[str]:
    """The names of the authors whose commits added these paths, not of those who merged them."""
    return frozenset(_last_author(repository, revision, "A", [path]) for path in paths)


def changed_later(repository: Path, revision: str, paths: Iterable[str]) -> str | None:
    """The author of the newest commit that changed one of these paths after it was added."""
    listed = [*paths]
    return (_last_author(repository, revision, "M", listed) or None) if listed else None


def _last_author(repository: Path, revision: str, kind: str, paths: Iterable[str]) -> str:
    """The author of the newest commit with a change of this kind (`A` or `M`) to these paths."""
    options = (f"--diff-filter={kind}", "--no-renames", "--max-count=1", "--format=%an")
    listed = (f":(top,literal){path}" for path in paths)
    return _text(repository, "log", *options, *_PLAIN_LOG, revision, "--", *listed).strip()


def _object(line: str) -> tuple[str, int]:
    """Parse a line `<id> blob <size>` of `git cat-file`. Raises `GitError` for anything else."""
    name, _, rest = line.partition(" ")
    kind, _, size = rest.partition(" ")
    if kind != "blob":
        raise GitError(
            f"git cat-file found no blob {shown(name)} ({shown(rest)}). Is the clone complete?"
        )
    return name, int(size)


def _text(repository: Path, *arguments: str) -> str:
    return _run(repository, *arguments).decode("utf-8", "backslashreplace")


def _run(
    repository: Path,
    *arguments: str,
    data: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> bytes:
    settings = [word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}")]
    command = ["git", "-C", str(repository), "--no-pager", *settings, *arguments]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, and revisions are resolved before they are used
            command,
            input=data,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
            env=inherited | _VARIABLES | (dict(variables) if variables else {}),
        )
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode("utf-8", "replace").strip() or "no reason given"
        message = f"git {arguments[0]} failed: {reason}. Is it a full clone with both revisions?"
        # Exit code 1 without a message means "not found" for `rev-parse --verify` and `merge-base`.
        raise GitError(message, code=None if error.stderr else error.returncode) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git could not be run ({error}). Install git, or try again.") from error
    return done.stdout
