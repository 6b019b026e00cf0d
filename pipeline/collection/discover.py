"""Find the files to read: the results, sorted, and extra files for a local preview."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

from pipeline.errors import MissingFileError, UnwritableError

Kind = Literal["submission", "published", "lifecycle"]
Place = Literal["corpus", "preview"]
FOLDERS: dict[str, Kind] = {
    "community": "submission",
    "published": "published",
    "lifecycle": "lifecycle",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read. Rules on names and duplicates apply only to files in the corpus."""

    path: Path
    kind: Kind
    place: Place


def discover(results: Path, extra: Iterable[Path] = ()) -> tuple[Source, ...]:
    """All files in a results folder (none if it is missing), then the extra files.

    Raises `MissingFileError` for an extra path that does not exist.
    """
    corpus = tuple(
        Source(path=path, kind=kind, place="corpus")
        for folder, kind in FOLDERS.items()
        for path in _entries(results / folder, deep=kind == "submission")
    )
    previews = {path for given in extra for path in _files_of(given)}
    return (
        *corpus,
        *(Source(path=path, kind="submission", place="preview") for path in sorted(previews)),
    )


def _files_of(given: Path) -> tuple[Path, ...]:
    if not given.exists():
        raise MissingFileError(given)
    return (given,) if given.is_file() else tuple(sorted(given.rglob("*.json")))


def _entries(folder: Path, *, deep: bool) -> tuple[Path, ...]:
    """All files in a folder except Markdown and hidden files; the validator reports wrong names.

    With `deep`, files in subfolders `<year>/<month>` are included. Files are ordered by name,
    regardless of their folder.
    """
    if not folder.is_dir():
        return ()
    opened: set[Path] = set()
    if deep:
        months = [path for path in folder.glob("20[0-9][0-9]/[0-9][0-9]") if path.is_dir()]
        opened = {*months, *(month.parent for month in months)}
    there = (path for each in (folder, *opened) for path in each.iterdir() if path not in opened)
    visible = (path for path in there if path.suffix != ".md" and not path.name.startswith("."))
    return tuple(sorted(visible, key=lambda path: (path.name, path)))


def require_writable(folder: Path) -> None:
    """Raise `UnwritableError` unless a folder is writable; creates its missing parents."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            folder.mkdir(exist_ok=True)  # a file with the folder's name is an error
        with TemporaryFile(dir=folder if folder.exists() else folder.parent):
            pass
    except OSError as error:
        raise UnwritableError(
            f"{folder} cannot be written ({error.strerror}). Choose another --output."
        ) from error
