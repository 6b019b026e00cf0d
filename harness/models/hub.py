"""Find the files that `owner/repo:quant` refers to in a hub repository, and fetch them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.models import hub_names
from harness.models.hub_cache import cached_files
from harness.models.hub_names import choose, complete
from harness.models.model_file import WeightsFile
from schemas.vocabulary.say import size

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

    from harness.models.hub_client import Hub


def fetch(
    reference: str, *, client: "Hub | None" = None, say: Callable[[str], None]
) -> WeightsFile:
    """Return the weights of `owner/repo:quant`. Raises `BadInputError` or `MachineError`."""
    repository, quantisation = parts(reference)
    path = cached(repository, quantisation, client=client)
    if path is None:
        client = client or _default_client()
        commit, files = client.list(repository)
        chosen = [files[name] for name in choose(list(files), repository, quantisation)]
        say(f"Fetching {_described(chosen)} from {repository} …")
        path, *_ = [client.fetch(repository, commit, file) for file in chosen]
    return WeightsFile(path=path, repository=repository)


def readers(reference: str, *, client: "Hub | None") -> dict[str, Callable[[int, int], bytes]]:
    """Return, by file name, functions that read byte ranges of the files of `owner/repo:quant`."""
    repository, quantisation = parts(reference)
    client = client or _default_client()
    commit, files = client.list(repository)
    names = choose(list(files), repository, quantisation)
    return {name: partial(client.read, repository, commit, name) for name in names}


def _default_client() -> "Hub":
    from harness.models.hub_client import Hub  # noqa: PLC0415 - slow to import

    return Hub()


def parts(reference: str) -> tuple[str, str]:
    """Split `owner/repo:quant`. Raises `BadInputError` for any other text."""
    found = hub_names.reference(reference)
    if found is None:
        raise BadInputError(f"{reference!r} has the wrong form; write owner/repo:quant")
    return found


def cached(repository: str, quantisation: str, *, client: "Hub | None" = None) -> Path | None:
    """Return a quantisation's file, or the first of its parts, if all of them are on this disk."""
    files = client.cached(repository) if client else cached_files(repository)
    names = complete(list(files), quantisation)
    return files[names[0]] if names else None


def _described(files: "Sequence[RepoSibling]") -> str:
    known = [file.size for file in files if file.size is not None]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    total = f" ({size(sum(known))})" if len(known) == len(files) else ""
    return f"{files[0].rfilename}{more}{total}"
