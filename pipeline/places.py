"""Are the folders there that a command was given? Asked before the work, not after it."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from pipeline.errors import MissingFileError, UnwritableError

if TYPE_CHECKING:
    from pathlib import Path


def require_results(results: Path) -> None:
    """Raise `MissingFileError` when there is no such folder: a typing error is no empty corpus."""
    if not results.is_dir():
        raise MissingFileError(results)


def require_writable(folder: Path) -> None:
    """Raise `UnwritableError` when nothing can be written there. Only its parents are made."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            folder.mkdir(exist_ok=True)  # a file of that name is an error
        with TemporaryFile(dir=folder if folder.exists() else folder.parent):
            pass
    except OSError as error:
        raise UnwritableError(folder, error.strerror) from error
