"""The interface of a model hub: list, fetch and read files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


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
    """What the hub must offer. The real one is `HuggingFace`.

    Every method raises `BadInputError` for a repository that is not to be had, and `MachineError`
    when the network fails.
    """

    def list(self, repository: str) -> Listing:
        """All files."""
        ...

    def fetch(self, repository: str, commit: str, file: HubFile) -> Path:
        """The path of a file, after downloading and checking what was missing of it."""
        ...

    def cached(self, repository: str) -> Mapping[str, Path]:
        """The files that were downloaded earlier, by name."""
        ...

    def read(self, repository: str, commit: str, name: str, start: int, length: int) -> bytes:
        """Bytes of a file; fewer at its end."""
        ...
