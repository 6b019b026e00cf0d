"""Writes files that survive a power cut, and finds the cache directory."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path

import platformdirs
from filelock import FileLock

from harness.errors import MachineError, unreadable
from schemas.strict import MAX_BYTES


def expanded(text: str) -> Path:
    """Turn a string into a path, expanding `~` to the home folder; an unknown `~user` is kept."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - a path's own method raises for it


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Wait until a directory's entries are on the disk; on Windows this is not necessary."""
    if sys.platform == "win32":
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def result_bytes(path: Path) -> bytes:
    """Return a result file's bytes, at most one beyond the size limit. Raises `BadInputError`."""
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise unreadable(path, error) from error


VARIABLE = "DRAFTMAP_CACHE"
# Space that must stay free, so that a download never fills the disk to the last byte.
_RESERVE_BYTES = 200 * 1024 * 1024
_MIB = 1024 * 1024


def directory() -> Path:
    """Return the cache directory; `DRAFTMAP_CACHE` overrides the platform's default.

    Code that writes to the cache creates the directory with `usable` first.
    """
    return Path(os.environ.get(VARIABLE) or platformdirs.user_cache_dir("draftmap"))


@contextmanager
def usable() -> Iterator[None]:
    """Create the cache directory.

    An `OSError` inside the block becomes a one-line `MachineError`.
    """
    try:
        directory().mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        is_file = directory().exists() and not directory().is_dir()
        reason = "it is no directory" if is_file else error.strerror
        raise MachineError(
            f"the cache {directory()} cannot be used ({reason}); "
            f"{'free some space or ' * (error.errno == ENOSPC)}set {VARIABLE} to another directory"
        ) from error


@contextmanager
def only_one(name: str) -> Iterator[None]:
    """Hold a named lock, so that a second process waits instead of doing the same work."""
    with usable(), FileLock(directory() / f"{name}.lock"):
        yield


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; on success the new file replaces `path`.

    A failure leaves no new file. A file at `path` is always complete, even after a power cut: the
    content is synced before the rename, and the rename before the `with` statement ends.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield part
        sync_file(part)
        part.replace(path)
        sync_directory(path.parent)
    finally:
        part.unlink(missing_ok=True)


def cache(path: Path, data: bytes) -> None:
    """Write a file of the cache. Raises `MachineError`."""
    with usable(), written(path) as part:
        part.write_bytes(data)


def made_once(name: str, needed_bytes: int, make: Callable[[Path], None], *, what: str) -> Path:
    """Return the cached file with this name, made on the first call while other processes wait."""
    path = directory() / name
    if path.is_file():
        return path
    with only_one(name):
        if not path.is_file():
            require_space(needed_bytes, what)
            with written(path) as part:
                make(part)
    return path


def require_space(
    needed_bytes: int, what: str, folder: Path | None = None, variable: str = VARIABLE
) -> None:
    """Raise `MachineError` if a folder's disk has no room for this many bytes.

    The message suggests setting the environment variable `variable` to a folder on another disk.
    """
    free_bytes = shutil.disk_usage(folder or directory()).free
    if free_bytes < needed_bytes + _RESERVE_BYTES:
        raise MachineError(
            f"too little disk space for {what}: {needed_bytes // _MIB} MiB are needed, plus "
            f"{_RESERVE_BYTES // _MIB} MiB that must stay free, but only {free_bytes // _MIB} "
            f"MiB are free; free some space or set {variable} to a directory on another disk"
        )
