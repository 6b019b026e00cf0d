"""Which file of a hub repository is meant by `owner/repo:quant`, and how does it get here?"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from huggingface_hub import HfApi, hf_hub_download, scan_cache_dir
from huggingface_hub import logging as hub_logging

# HTTPError is of the HTTP library that the hub's client uses, whichever that is.
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    CacheNotFound,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)

from harness.errors import BadInputError, MachineError
from harness.models.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

REFERENCE = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+):(?P<quantisation>[\w.-]+)")
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_QUANTISATION = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:I?Q\d\w*|F16|F32|BF16|MXFP4\w*|NVFP4|TQ\d_\d))(?=[-./]|$)",
    re.IGNORECASE,
)
# A projector for images lies beside the weights in many repositories and is no language model.
_OTHER_KINDS = ("mmproj", "imatrix")


class Client(Protocol):
    """What the hub must offer. The real one is `HuggingFace`; tests use a local directory."""

    def list(self, repository: str) -> tuple[str, ...]:
        """Names of all files. Raises `OSError` when the hub cannot be reached."""
        ...

    def fetch(self, repository: str, name: str, *, kept: bool) -> Path:
        """Where a file lies: in the hub's cache when it is `kept`, else after downloading it."""
        ...

    def kept(self, repository: str) -> tuple[str, ...]:
        """Names of the files that are in the hub's cache already."""
        ...


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """The Hugging Face hub through its own client: progress bar, resume, token, shared cache."""

    def __post_init__(self) -> None:
        # Its warnings about each of five retries would bury our one line.
        hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]

    def list(self, repository: str) -> tuple[str, ...]:
        """Names of all files of a repository."""
        with _unreachable_is_an_os_error():
            return tuple(HfApi().list_repo_files(repository))

    def fetch(self, repository: str, name: str, *, kept: bool) -> Path:
        """Where a file lies in the hub's cache, after downloading what is missing of it."""
        with _unreachable_is_an_os_error():
            return Path(hf_hub_download(repository, name, local_files_only=kept))

    def kept(self, repository: str) -> tuple[str, ...]:
        """Names of the files of a repository that were downloaded earlier."""
        try:
            repositories = scan_cache_dir().repos
        except CacheNotFound:
            return ()
        return tuple(
            str(file.file_path.relative_to(revision.snapshot_path).as_posix())
            for found in repositories
            if found.repo_id == repository
            for revision in found.revisions
            for file in revision.files
        )


def fetch(reference: str, *, client: Client, say: Callable[[str], None]) -> Weights:
    """The weights behind `owner/repo:quant`. Raises `BadInputError` or `MachineError`."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        message = f"{reference!r} has the wrong form; write owner/repo:quant"
        raise BadInputError(message)
    repository, quantisation = match["repository"], match["quantisation"]
    kept = complete(client.kept(repository), quantisation)
    names = kept or choose(_listed(client, repository), repository, quantisation)
    if not kept:
        say(f"Fetching {names[0]} from {repository} …")
    try:
        paths = [client.fetch(repository, name, kept=bool(kept)) for name in names]
    except OSError as error:
        message = f"{names[0]} could not be fetched ({error}); run again to resume, or give a file"
        raise MachineError(message) from error
    return Weights(path=paths[0], repository=repository)


def choose(names: Sequence[str], repository: str, quantisation: str) -> tuple[str, ...]:
    """The file with this quantisation, or all parts of it, first part first."""
    weights = [name for name in names if name.lower().endswith(".gguf")]
    weights = [n for n in weights if not any(kind in n.lower() for kind in _OTHER_KINDS)]
    fitting = sorted(n for n in weights if quantisation.lower() in _quantisations(n))
    whole = [name for name in fitting if not _PART.search(name)]
    if whole:
        return (min(whole, key=len),)
    if fitting:
        stem = _PART.sub("", fitting[0])
        return tuple(name for name in fitting if _PART.sub("", name) == stem)
    known = sorted({q for name in weights for q in _quantisations(name)})
    offer = f"it has {', '.join(known).upper()}" if known else "it holds no GGUF files"
    message = f"{repository} has no file with the quantisation {quantisation!r}; {offer}"
    raise BadInputError(message)


@contextmanager
def _unreachable_is_an_os_error() -> Iterator[None]:
    """Answers of the hub are `HfHubHTTPError`, an `OSError`; failures to connect are made one."""
    try:
        yield
    except HfHubHTTPError:
        raise
    except HTTPError as error:
        raise ConnectionError(str(error)) from error


def _quantisations(name: str) -> set[str]:
    found = {match.lower() for match in _QUANTISATION.findall(_PART.sub("", name))}
    found |= {match.lower() for match in _QUANTISATION.findall(name.removesuffix(".gguf"))}
    return found


def complete(kept: Sequence[str], quantisation: str) -> tuple[str, ...]:
    """The kept files with this quantisation when none of their parts is missing, else nothing."""
    try:
        names = choose(kept, "the cache", quantisation)
    except BadInputError:
        return ()
    part = _PART.search(names[0])
    return names if part is None or int(part[2]) == len(names) else ()


def _listed(client: Client, repository: str) -> tuple[str, ...]:
    try:
        return client.list(repository)
    except GatedRepoError as error:
        message = f"{repository} asks for its terms to be accepted; do so, then `hf auth login`"
        raise BadInputError(message) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        message = f"there is no repository {repository} on the hub; check owner and name"
        raise BadInputError(message) from error
    except (HfHubHTTPError, OSError) as error:
        message = (
            f"the hub cannot be reached and {repository} is not on this disk; check the network, "
            "give a GGUF file, or leave --target out to use the embedded model"
        )
        raise MachineError(message) from error
