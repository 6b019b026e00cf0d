"""Find the files that `owner/repo:quant` refers to in a repository of the hub, and fetch them."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.models.local_files import OTHER_KINDS, cached_files
from harness.models.model_file import WeightsFile
from schemas.vocabulary.say import size

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

    from harness.models.hub_client import Hub
# Ollama writes the hub's name before the owner.
_HOST = re.compile(r"(?:hf|huggingface)\.co/", re.IGNORECASE)
_REFERENCE = re.compile(r"([\w-][\w.-]*/[\w.-]+?)(?<!\.gguf)(?::([\w.-]+))?", re.IGNORECASE)
_DEFAULT_QUANTISATION = "Q4_K_M"
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_QUANTISATION = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:I?Q\d\w*|F16|F32|BF16|MXFP4\w*|NVFP4|TQ\d_\d))(?=[-./]|$)",
    re.IGNORECASE,
)


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


def parts(text: str) -> tuple[str, str]:
    """Split `owner/repo:quant`. Raises `BadInputError` for any other text."""
    found = reference(text)
    if found is None:
        raise BadInputError(f"{text!r} has the wrong form; write owner/repo:quant")
    return found


def cached(repository: str, quantisation: str, *, client: "Hub | None" = None) -> Path | None:
    """Return a quantisation's file, or the first of its parts, if all of them are on this disk."""
    files = cached_files(repository, client.cache_dir if client else None)
    names = complete(list(files), quantisation)
    return files[names[0]] if names else None


def _described(files: "Sequence[RepoSibling]") -> str:
    known = [file.size for file in files if file.size is not None]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    total = f" ({size(sum(known))})" if len(known) == len(files) else ""
    return f"{files[0].rfilename}{more}{total}"


def reference(text: str) -> tuple[str, str] | None:
    """Split `owner/repo:quant`; the default quantisation is Q4_K_M, as in llama.cpp."""
    match = _REFERENCE.fullmatch(without_host(text))
    return None if match is None else (match[1], match[2] or _DEFAULT_QUANTISATION)


def without_host(text: str) -> str:
    """Return `owner/repo:quant` from `hf.co/owner/repo:quant`, and any other text unchanged."""
    host = _HOST.match(text)
    rest = text[host.end() :] if host else text
    return rest if "/" in rest else text


def choose(names: Sequence[str], repository: str, quantisation: str) -> tuple[str, ...]:
    """Return the name of a quantisation's file, or the names of all its parts in order."""
    weights = [name for name in names if name.lower().endswith(".gguf")]
    weights = [n for n in weights if not any(kind in n.lower() for kind in OTHER_KINDS)]
    # A file may also be requested by its name: a repository may contain a model and its head.
    asked = quantisation.lower()
    fitting = sorted(n for n in weights if asked in {*_quantisations(n), PurePath(n).stem.lower()})
    whole = [name for name in fitting if not _PART.search(name)]
    if whole:
        return (min(whole, key=len),)
    if fitting:
        stem = _PART.sub("", fitting[0])
        return tuple(name for name in fitting if _PART.sub("", name) == stem)
    offered = sorted({q for name in weights for q in _quantisations(name)})
    offer = (
        f"available: {', '.join(offered).upper()}"
        if offered
        else "the repository has no GGUF files"
    )
    raise BadInputError(f"{repository} has no file with the quantisation {quantisation!r}; {offer}")


def _quantisations(name: str) -> set[str]:
    found = {match.lower() for match in _QUANTISATION.findall(_PART.sub("", name))}
    found |= {match.lower() for match in _QUANTISATION.findall(name.removesuffix(".gguf"))}
    return found


def complete(names: Sequence[str], quantisation: str) -> tuple[str, ...]:
    """Return the names of a quantisation's files; empty if not all of them exist."""
    try:
        chosen = choose(names, "the cache", quantisation)
    except BadInputError:
        return ()
    part = _PART.search(chosen[0])
    return chosen if part is None or int(part[2]) == len(chosen) else ()
