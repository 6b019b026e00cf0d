"""The interface of a model hub: list, fetch and read files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling


class Hub(Protocol):
    """What the hub must offer. The real one is `HuggingFace`.

    Every method raises `BadInputError` for a repository that is not to be had, and `MachineError`
    when the network fails.
    """

    def list(self, repository: str) -> "tuple[str, Mapping[str, RepoSibling]]":
        """The commit, and its files by name; size and digest are known of large ones."""
        ...

    def fetch(self, repository: str, commit: str, file: "RepoSibling") -> Path:
        """The path of a file, after downloading and checking what was missing of it."""
        ...

    def cached(self, repository: str) -> Mapping[str, Path]:
        """The files that were downloaded earlier, by name."""
        ...

    def read(self, repository: str, commit: str, name: str, start: int, length: int) -> bytes:
        """Bytes of a file; fewer at its end."""
        ...
