"""Find the files that `owner/repo:quant` means in a hub repository, and fetch them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.errors import BadInputError, MachineError
from harness.models.describe import WeightsFile
from harness.models.hub_names import REFERENCE, choose, complete
from harness.models.hub_protocol import (
    GatedError,
    Hub,
    HubFile,
    Listing,
    NoRangesError,
    NotFoundError,
)

_MB = 1_000_000
_GB = 1_000_000_000


def default_client() -> Hub:
    """The hub's own client, which takes a while to import."""
    from harness.models.hub_client import HuggingFace  # noqa: PLC0415 - slow to import

    return HuggingFace()


def fetch(reference: str, *, client: Hub, say: Callable[[str], None]) -> WeightsFile:
    """The weights behind `owner/repo:quant`. Raises `BadInputError` or `MachineError`."""
    repository, quantisation = _parts(reference)
    path = cached(repository, quantisation, client=client)
    if path is None:
        listing = _listed(client, repository)
        files = {file.name: file for file in listing.files}
        names = choose(list(files), repository, quantisation)
        chosen = [files[name] for name in names]
        say(f"Fetching {_described(chosen)} from {repository} …")
        paths = [_fetched(client, repository, listing, file) for file in chosen]
        path = paths[0]
    return WeightsFile(path=path, repository=repository)


def readers(reference: str, *, client: Hub) -> dict[str, Callable[[int, int], bytes]]:
    """For each file behind `owner/repo:quant`: its name, and a function that reads a range of it.

    Raises `BadInputError` or `MachineError`; so does reading.
    """
    repository, quantisation = _parts(reference)
    listing = _listed(client, repository)
    names = choose([file.name for file in listing.files], repository, quantisation)
    return {name: _range_reader(client, repository, listing.commit, name) for name in names}


def _parts(reference: str) -> tuple[str, str]:
    """Repository and quantisation."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        message = f"{reference!r} has the wrong form; write owner/repo:quant"
        raise BadInputError(message)
    return match["repository"], match["quantisation"]


def _range_reader(
    client: Hub, repository: str, commit: str, name: str
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


def cached(repository: str, quantisation: str, *, client: Hub | None = None) -> Path | None:
    """The file with this quantisation, or its first part, when all of it is on this disk."""
    files = (client or default_client()).cached(repository)
    names = complete(list(files), quantisation)
    return files[names[0]] if names else None


def _described(files: Sequence[HubFile]) -> str:
    known = [file.size_bytes for file in files if file.size_bytes is not None]
    parts = f" and {len(files) - 1} more" if len(files) > 1 else ""
    size = f" ({_amount(sum(known))})" if len(known) == len(files) else ""
    return f"{files[0].name}{parts}{size}"


def _amount(size_bytes: int) -> str:
    if size_bytes < _MB:
        return f"{size_bytes / 1000:.0f} kB"
    return f"{size_bytes / _MB:.0f} MB" if size_bytes < _GB else f"{size_bytes / _GB:.2f} GB"


def _fetched(client: Hub, repository: str, listing: Listing, file: HubFile) -> Path:
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


def _listed(client: Hub, repository: str) -> Listing:
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
