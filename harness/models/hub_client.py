"""Download from the Hugging Face hub with the hub's own client, into the shared cache.

`hf_hub_download` starts over after an interruption and does not check digests. So a large file is
first downloaded to a partial file in the cache, and resumed after an interruption. Only a file
with the SHA-256 that the hub lists becomes a blob, which is named by that digest.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from huggingface_hub import HfApi, constants, hf_hub_download, hf_hub_url
from huggingface_hub import logging as hub_logging

# HTTPError belongs to the HTTP library of the hub's client: httpx in 1.x, httpx2 in 2.x.
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    GatedRepoError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)

# Undocumented, but the only function that continues a partial download; hence the version bound
# below 3.
from huggingface_hub.file_download import http_get
from huggingface_hub.hf_api import BlobLfsInfo, RepoSibling
from huggingface_hub.utils import build_hf_headers, get_session  # type: ignore[attr-defined]

from harness import files
from harness.errors import BadInputError, MachineError
from harness.files import sha256_of, sync_directory, sync_file
from harness.models.local_files import repository_folder

_PARTIAL_CONTENT, _RANGE_BEYOND_END = 206, 416
_UNFINISHED = ".draftmap-part"
_DAMAGED = ".damaged"
# The hub serves larger files only to its own client; `http_get` refuses larger files.
_LARGEST_BYTES = 50 * 1000**3


@dataclass(frozen=True, slots=True)
class Hub:
    """The Hugging Face hub. A field that is `None` is set by HF_ENDPOINT or HF_HUB_CACHE.

    All methods raise `BadInputError` for a missing repository, and `MachineError` if the network
    fails.
    """

    endpoint: str | None = None
    cache_dir: Path | None = None

    def __post_init__(self) -> None:
        # The client's warnings about each of five retries would hide our one-line error.
        hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]

    def list(self, repository: str) -> tuple[str, dict[str, RepoSibling]]:
        """List all current files of a repository, with a single request."""
        away = f"the hub cannot be reached and {repository} is not on this disk"
        step = "check the network, give a GGUF file, or use a smollm2 preset, which needs no hub"
        with explained(repository, away, step):
            info = HfApi(endpoint=self.endpoint).model_info(repository, files_metadata=True)
        files = {file.rfilename: file for file in info.siblings or ()}
        return info.sha or constants.DEFAULT_REVISION, files

    def fetch(self, repository: str, commit: str, file: RepoSibling) -> Path:
        """Return a file's path in the hub's cache. Raises `MachineError` if the file is damaged."""
        step = "run the same command again: the download continues where it stopped"
        with explained(repository, f"{file.rfilename} could not be fetched", step):
            if file.lfs is not None:
                # `files.only_one` does not fit: errors in this block come from the network, not the
                # cache.
                with files.usable():
                    lock = FileLock(files.directory() / f"hub-{file.lfs.sha256[:16]}.lock")
                with lock:
                    self._fetch_blob(repository, commit, file.rfilename, file.lfs)
            path = Path(
                hf_hub_download(
                    repository,
                    file.rfilename,
                    revision=commit,
                    cache_dir=self.cache_dir,
                    endpoint=self.endpoint,
                )
            )
        if file.lfs is not None and not path.is_symlink():
            # Without symbolic links the client copied the file, and the blob would double the
            # space.
            self._blob(repository, file.lfs.sha256).unlink(missing_ok=True)
        return path

    def read(self, repository: str, commit: str, name: str, start: int, length: int) -> bytes:
        """Read a range of a file's bytes. Raises `MachineError` if reading fails."""
        url = hf_hub_url(repository, name, revision=commit, endpoint=self.endpoint)
        ranged = {"Range": f"bytes={start}-{start + length - 1}"}
        with (
            explained(repository, f"the header of {name} could not be read", "try again"),
            get_session().stream("GET", url, headers={**build_hf_headers(), **ranged}) as answer,
        ):
            if answer.status_code == _RANGE_BEYOND_END:
                return b""
            answer.raise_for_status()
            if answer.status_code != _PARTIAL_CONTENT:
                raise MachineError(
                    f"the hub sends only the whole file {name}, so its header cannot be read "
                    "separately; fetch the file with `python -m harness models get "
                    f"{repository}:QUANT`, or name a local file"
                )
            data: bytes = answer.read()
            return data[:length]

    def _fetch_blob(self, repository: str, commit: str, name: str, lfs: BlobLfsInfo) -> None:
        blob = self._blob(repository, lfs.sha256)
        if blob.is_file():
            return
        blob.parent.mkdir(parents=True, exist_ok=True)
        part = blob.with_name(blob.name + _UNFINISHED)
        here_bytes = part.stat().st_size if part.is_file() else 0
        if lfs.size - here_bytes > _LARGEST_BYTES:
            raise MachineError(
                f"{name} is larger than {_LARGEST_BYTES // 10**9} GB; fetch it with "
                f"`hf download {repository} {name}`, then run the same command again"
            )
        files.require_space(lfs.size - here_bytes, name, blob.parent, "HF_HOME")
        url = hf_hub_url(repository, name, revision=commit, endpoint=self.endpoint)
        with part.open("ab") as stream:
            http_get(
                url,
                stream,
                resume_size=here_bytes,
                headers=build_hf_headers(),
                expected_size=lfs.size,
                displayed_filename=name,
            )
        _check(part, name, lfs.sha256)
        sync_file(part)
        part.replace(blob)
        sync_directory(blob.parent)

    def _blob(self, repository: str, sha256: str) -> Path:
        return repository_folder(repository, self.cache_dir) / "blobs" / sha256


def _check(part: Path, name: str, expected: str) -> None:
    found = sha256_of(part)
    if found == expected:
        return
    aside = part.with_name(expected + _DAMAGED)
    part.replace(aside)
    raise MachineError(
        f"{name} has the SHA-256 {found[:12]}… instead of {expected[:12]}…: the file was damaged "
        f"in transit or replaced. It was saved as {aside} and is not used; delete that file and "
        "try again"
    )


@contextmanager
def explained(repository: str, failed: str, step: str) -> Iterator[None]:
    """Turn an error of the hub's client into one line: the failure, the reason, the next step."""
    try:
        yield
    except GatedRepoError as error:
        raise BadInputError(
            f"{repository} requires you to accept its terms; do so, then `hf auth login`"
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise BadInputError(
            f"there is no repository {repository} on the hub; check owner and name"
        ) from error
    except (OSError, HTTPError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise MachineError(f"{failed} ({reason}); {step}") from error
