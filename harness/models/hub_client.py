"""How does the harness speak with the Hugging Face hub? Through its own client and shared cache.

`hf_hub_download` begins anew after an interruption and believes what arrives. So a large file is
written beside its place in the cache first, goes on from where it stopped, and takes its place (its
blob, named by its SHA-256) only when the digest is the one that the hub gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from filelock import FileLock
from huggingface_hub import HfApi, constants, hf_hub_download, hf_hub_url
from huggingface_hub import logging as hub_logging

# HTTPError is of the HTTP library that the hub's client uses, whichever that is.
from huggingface_hub.errors import HfHubHTTPError, HTTPError  # type: ignore[attr-defined]
from huggingface_hub.file_download import http_get, repo_folder_name
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from harness import files
from harness.errors import MachineError
from harness.files import sync_directory, sync_file
from harness.models.embedded import sha256_of

_UNFINISHED = ".draftmap-part"
_DAMAGED = ".damaged"
# Larger files are served in chunks only, to clients of their own (`http_get` refuses them).
_LARGEST_BYTES = constants.MAX_HTTP_DOWNLOAD_SIZE


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


class Client(Protocol):
    """What the hub must offer. The real one is `HuggingFace`; tests use a local directory."""

    def list(self, repository: str) -> Listing:
        """All files. Raises `OSError` when the hub cannot be reached."""
        ...

    def fetch(self, repository: str, commit: str, file: HubFile) -> Path:
        """Where a file lies after downloading and checking what is missing of it."""
        ...

    def kept(self, repository: str) -> Mapping[str, Path]:
        """The files that were downloaded earlier, by name."""
        ...


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """The hub; `None` stands for what HF_ENDPOINT and HF_HUB_CACHE say."""

    endpoint: str | None = None
    cache_dir: Path | None = None

    def __post_init__(self) -> None:
        # Its warnings about each of five retries would bury our one line.
        hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]

    def list(self, repository: str) -> Listing:
        """All files of a repository as they are now, in one request."""
        with _unreachable_is_an_os_error():
            info = HfApi(endpoint=self.endpoint).model_info(repository, files_metadata=True)
        files = tuple(
            HubFile(
                name=file.rfilename,
                size_bytes=file.size,
                sha256=file.lfs.sha256 if file.lfs else None,
            )
            for file in info.siblings or ()
        )
        return Listing(commit=info.sha or constants.DEFAULT_REVISION, files=files)

    def fetch(self, repository: str, commit: str, file: HubFile) -> Path:
        """Where a file lies in the hub's cache. Raises `MachineError` when it is damaged."""
        with _unreachable_is_an_os_error():
            if file.sha256 is not None and file.size_bytes is not None:
                # Not `cache.only_one`: what fails in here is the network, not the cache.
                with FileLock(files.directory() / f"hub-{file.sha256[:16]}.lock"):
                    self._fetch_blob(repository, commit, file, file.size_bytes, file.sha256)
            path = Path(
                hf_hub_download(
                    repository,
                    file.name,
                    revision=commit,
                    cache_dir=self._cache(),
                    endpoint=self.endpoint,
                )
            )
        if file.sha256 is not None and not path.is_symlink():
            # Where links cannot be made it was copied, and needs no second place on the disk.
            self._blob(repository, file.sha256).unlink(missing_ok=True)
        return path

    def kept(self, repository: str) -> Mapping[str, Path]:
        """The files in the hub's cache; of a file in several versions the latest."""
        snapshots = self._folder(repository) / "snapshots"
        if not snapshots.is_dir():
            return {}
        return {
            path.relative_to(revision).as_posix(): path
            for revision in sorted(snapshots.iterdir(), key=lambda folder: folder.stat().st_mtime)
            for path in sorted(revision.rglob("*"))
            if path.is_file()
        }

    def _fetch_blob(
        self, repository: str, commit: str, file: HubFile, size_bytes: int, sha256: str
    ) -> None:
        blob = self._blob(repository, sha256)
        if blob.is_file():
            return
        blob.parent.mkdir(parents=True, exist_ok=True)
        part = blob.with_name(blob.name + _UNFINISHED)
        here_bytes = part.stat().st_size if part.is_file() else 0
        if size_bytes - here_bytes > _LARGEST_BYTES:
            message = (
                f"{file.name} is larger than {_LARGEST_BYTES // 10**9} GB; fetch it with "
                f"`hf download {repository} {file.name}`, then it is found"
            )
            raise MachineError(message)
        files.require_space(size_bytes - here_bytes, file.name, blob.parent, "HF_HOME")
        url = hf_hub_url(repository, file.name, revision=commit, endpoint=self.endpoint)
        with part.open("ab") as stream:
            http_get(
                url,
                stream,
                resume_size=here_bytes,
                headers=build_hf_headers(),
                expected_size=size_bytes,
                displayed_filename=file.name,
            )
        _check(part, file.name, sha256)
        sync_file(part)
        part.replace(blob)
        sync_directory(blob.parent)

    def _cache(self) -> Path:
        return self.cache_dir or Path(constants.HF_HUB_CACHE)

    def _folder(self, repository: str) -> Path:
        return self._cache() / repo_folder_name(repo_id=repository, repo_type="model")

    def _blob(self, repository: str, sha256: str) -> Path:
        return self._folder(repository) / "blobs" / sha256


def _check(part: Path, name: str, expected: str) -> None:
    found = sha256_of(part)
    if found == expected:
        return
    aside = part.with_name(expected + _DAMAGED)
    part.replace(aside)
    message = (
        f"{name} has the SHA-256 {found[:12]}… instead of {expected[:12]}…: it was damaged on the "
        f"way or replaced. It is kept as {aside} and never used; delete it and fetch it again"
    )
    raise MachineError(message)


@contextmanager
def _unreachable_is_an_os_error() -> Iterator[None]:
    """Answers of the hub are `HfHubHTTPError`, an `OSError`; failures to connect are made one."""
    try:
        yield
    except HfHubHTTPError:
        raise
    except HTTPError as error:
        raise ConnectionError(str(error)) from error
