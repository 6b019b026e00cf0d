"""Finds the files that `owner/repo:quant` means in a hub repository, and fetches them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.errors import BadInputError, MachineError
from harness.models.describe import Weights

REFERENCE = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+):(?P<quantisation>[\w.-]+)")
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_QUANTISATION = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:I?Q\d\w*|F16|F32|BF16|MXFP4\w*|NVFP4|TQ\d_\d))(?=[-./]|$)",
    re.IGNORECASE,
)
_MB = 1_000_000
_GB = 1_000_000_000
# Files of these kinds are in many repositories; they are not language models.
_OTHER_KINDS = ("mmproj", "imatrix")


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


class Client(Protocol):
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


def default_client() -> Client:
    """The hub's own client, which takes a while to import."""
    from harness.models.hub_client import HuggingFace  # noqa: PLC0415 - slow to import

    return HuggingFace()


def fetch(reference: str, *, client: Client, say: Callable[[str], None]) -> Weights:
    """The weights behind `owner/repo:quant`. Raises `BadInputError` or `MachineError`."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        message = f"{reference!r} has the wrong form; write owner/repo:quant"
        raise BadInputError(message)
    repository, quantisation = match["repository"], match["quantisation"]
    path = cached(repository, quantisation, client=client)
    if path is None:
        listing = _listed(client, repository)
        files = {file.name: file for file in listing.files}
        names = choose(list(files), repository, quantisation)
        chosen = [files[name] for name in names]
        say(f"Fetching {_described(chosen)} from {repository} …")
        paths = [_fetched(client, repository, listing, file) for file in chosen]
        path = paths[0]
    return Weights(path=path, repository=repository)


def readers(reference: str, *, client: Client) -> dict[str, Callable[[int, int], bytes]]:
    """For each file behind `owner/repo:quant` its name, and what reads a part of it by range.

    Raises `BadInputError` or `MachineError`; so does reading.
    """
    match = REFERENCE.fullmatch(reference)
    if match is None:
        message = f"{reference!r} has the wrong form; write owner/repo:quant"
        raise BadInputError(message)
    repository = match["repository"]
    listing = _listed(client, repository)
    names = choose([file.name for file in listing.files], repository, match["quantisation"])
    return {name: _range_reader(client, repository, listing.commit, name) for name in names}


def _range_reader(
    client: Client, repository: str, commit: str, name: str
) -> Callable[[int, int], bytes]:
    def read(start: int, length: int) -> bytes:
        try:
            return client.read(repository, commit, name, range(start, start + length))
        except NoRangesError as error:
            message = (
                f"the hub sends {name} only as a whole, so its header cannot be read alone; "
                f"fetch it with `python -m harness models get {repository}:QUANT`, or name a file"
            )
            raise MachineError(message) from error
        except OSError as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            message = f"the header of {name} could not be read ({reason}); try again"
            raise MachineError(message) from error

    return read


def cached(repository: str, quantisation: str, *, client: Client | None = None) -> Path | None:
    """The file with this quantisation, or its first part, when all of it is on this disk."""
    files = (client or default_client()).cached(repository)
    names = complete(list(files), quantisation)
    return files[names[0]] if names else None


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


def _quantisations(name: str) -> set[str]:
    found = {match.lower() for match in _QUANTISATION.findall(_PART.sub("", name))}
    found |= {match.lower() for match in _QUANTISATION.findall(name.removesuffix(".gguf"))}
    return found


def complete(names: Sequence[str], quantisation: str) -> tuple[str, ...]:
    """The files with this quantisation if none of their parts is missing, else nothing."""
    try:
        chosen = choose(names, "the cache", quantisation)
    except BadInputError:
        return ()
    part = _PART.search(chosen[0])
    return chosen if part is None or int(part[2]) == len(chosen) else ()


def _described(files: Sequence[HubFile]) -> str:
    known = [file.size_bytes for file in files if file.size_bytes is not None]
    parts = f" and {len(files) - 1} more" if len(files) > 1 else ""
    size = f" ({_amount(sum(known))})" if len(known) == len(files) else ""
    return f"{files[0].name}{parts}{size}"


def _amount(size_bytes: int) -> str:
    if size_bytes < _MB:
        return f"{size_bytes / 1000:.0f} kB"
    return f"{size_bytes / _MB:.0f} MB" if size_bytes < _GB else f"{size_bytes / _GB:.2f} GB"


def _fetched(client: Client, repository: str, listing: Listing, file: HubFile) -> Path:
    try:
        return client.fetch(repository, listing.commit, file)
    except GatedError as error:
        raise _gated(repository) from error
    except OSError as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        message = (
            f"{file.name} could not be fetched ({reason}); "
            "run the same command again: the download continues where it stopped"
        )
        raise MachineError(message) from error


def _gated(repository: str) -> BadInputError:
    message = f"{repository} requires you to accept its terms; do so, then `hf auth login`"
    return BadInputError(message)


def _listed(client: Client, repository: str) -> Listing:
    try:
        return client.list(repository)
    except GatedError as error:
        raise _gated(repository) from error
    except NotFoundError as error:
        message = f"there is no repository {repository} on the hub; check owner and name"
        raise BadInputError(message) from error
    except OSError as error:
        message = (
            f"the hub cannot be reached and {repository} is not on this disk; check the network, "
            "give a GGUF file, or take a smollm2 preset, which needs no hub"
        )
        raise MachineError(message) from error
