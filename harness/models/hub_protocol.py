"""The interface of a model hub: list, fetch and read files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class GatedError(Exception):
    """A repository whose terms must be accepted first."""


class NotFoundError(Exception):
    """A repository that the hub does not have."""


class NoRangesError(Exception):
    """A hub, or a proxy before it, that sends whole files only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file of a repository. Size and digest are known for large files, which all weights are."""

    name: str
    size_bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a repository holds at one commit."""

    commit: str
    files: tuple[HubFile, ...]


class Hub(Protocol):
    """What the hub must offer. The real one is `HuggingFace`."""

    def list(self, repository: str) -> Listing:
        """All files. Raises `OSError`, `GatedError` or `NotFoundError`."""
        ...

    def fetch(self, repository: str, commit: str, file: HubFile) -> Path:
        """The path of a file, after downloading and checking what was missing of it."""
        ...

    def cached(self, repository: str) -> Mapping[str, Path]:
        """The files that were downloaded earlier, by name."""
        ...

    def read(self, repository: str, commit: str, name: str, part: range) -> bytes:
        """Bytes of a file; fewer at its end. Raises `OSError` or `NoRangesError`."""
        ...
