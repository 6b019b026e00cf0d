"""Which files are there to read? Results in a folder, sorted, and extra ones for a local preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pipeline.errors import MissingFileError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Kind = Literal["submission", "published"]
FOLDERS: dict[Kind, str] = {"submission": "community", "published": "published"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read. `preview`: it was named beside the corpus and is shown locally only."""

    path: Path
    kind: Kind
    preview: bool = False

    @property
    def name(self) -> str:
        return self.path.name


def discover(results: Path, extra: Iterable[Path] = ()) -> tuple[Source, ...]:
    """All files of a results folder, then the extra ones. A missing results folder is empty.

    Raises `MissingFileError` for an extra path that does not exist.
    """
    sources = [
        Source(path=path, kind=kind)
        for kind, folder in FOLDERS.items()
        for path in _json_files(results / folder)
    ]
    return (*sources, *_previews(extra))


def named(paths: Iterable[Path]) -> tuple[Source, ...]:
    """The files that were asked for by name: folders are read whole, `published` by its folder."""
    found = (path for given in paths for path in _files_of(given))
    return tuple(Source(path=path, kind=_kind(path)) for path in found)


def _previews(extra: Iterable[Path]) -> tuple[Source, ...]:
    found = {path for given in extra for path in _files_of(given)}
    return tuple(Source(path=path, kind="submission", preview=True) for path in sorted(found))


def _files_of(given: Path) -> tuple[Path, ...]:
    if not given.exists():
        raise MissingFileError(given)
    if given.is_file():
        return (given,)
    return tuple(sorted(path for path in given.rglob("*.json") if path.is_file()))


def _kind(path: Path) -> Kind:
    return "published" if path.parent.name == FOLDERS["published"] else "submission"


def _json_files(folder: Path) -> tuple[Path, ...]:
    """Everything in a folder but read-me files: a wrong name is for the validator to reject."""
    if not folder.is_dir():
        return ()
    return tuple(
        sorted(
            path
            for path in folder.iterdir()
            if path.suffix != ".md" and not path.name.startswith(".")
        )
    )
